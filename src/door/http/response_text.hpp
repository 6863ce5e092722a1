#pragma once

#include <string>

#include "door/http/route.hpp"

namespace sluice::http {

// How the connection goes on after a response.
enum class After { KeepAlive, Close };

struct ResponseFrame {
    std::string_view date_line;
    After after = After::KeepAlive;
    bool http_1_0 = false;         // Such a client must be told that the connection stays.
    bool head_only = false;        // The answer to HEAD.
    const Route* route = nullptr;  // Whose answer it is. Null: the door's own, where there is none.
};

// Appends the response as it goes over the wire. REQUIRES: the route declares it (declared_replies.hpp).
void append_response(std::string& out, const Response& response, const ResponseFrame& frame);

}  // namespace sluice::http
