#pragma once

#include <string>

#include "door/http/exchange.hpp"

namespace sluice::http {

// How the connection goes on after a response.
enum class After { KeepAlive, Close };

struct ResponseFrame {
    std::string_view date_line;
    After after = After::KeepAlive;
    bool http_1_0 = false;   // Such a client must be told that the connection stays.
    bool head_only = false;  // The answer to HEAD.
};

// Appends the response as it goes over the wire.
void append_response(std::string& out, const Response& response, const ResponseFrame& frame);

}  // namespace sluice::http
