#pragma once

#include <vector>

#include "door/http/route.hpp"

namespace sluice::http {

// What the door itself may answer before a route's handler is asked: because of the connection, the head, the
// token, the body. Null: the request was not understood so far that there was a route, or there is none.
std::vector<Reply> door_replies(const Route* route);

// Whether the route, or the door for it, says that it may answer so. `code` is empty where there is no
// problem.
bool is_declared(const Route* route, unsigned status, std::string_view code);

// In builds with asserts: ends the process when the response is not declared. So whatever is answered in a
// run of the tests stands in openapi.json.
#ifdef NDEBUG
inline void expect_declared(const Route* /*route*/, const Response& /*response*/) {}
#else
void expect_declared(const Route* route, const Response& response);
#endif

// Calls `take` with each word of a list that is split by spaces.
template <typename Take>
void for_each_word(std::string_view list, Take take) {
    while (!list.empty()) {
        const auto space = list.find(' ');
        take(list.substr(0, space));
        list = space == std::string_view::npos ? std::string_view{} : list.substr(space + 1);
    }
}

}  // namespace sluice::http
