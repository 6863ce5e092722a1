#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "door/http/problem.hpp"

namespace sluice::http {

inline constexpr std::size_t kHeadBytesMax = 16 * 1024;
inline constexpr std::size_t kTargetBytesMax = 8 * 1024;
inline constexpr std::size_t kHeaderLinesMax = 100;

// The head of a request as it stands in the buffer, known to be strict HTTP/1.x.
struct RequestHead {
    std::size_t size = 0;  // Bytes up to and including the empty line.
    std::string_view method;
    std::string_view target;
    std::optional<std::uint64_t> content_length;
    bool chunked = false;
    bool encoded = false;  // By a Content-Encoding other than identity.
    bool http_1_0 = false;
    bool expects_continue = false;
};

struct HeadIncomplete {};

// Looks at the raw bytes, because a lenient parser lets through what makes two servers disagree on where a
// request ends: repeated or signed lengths, a length beside an encoding, folded lines, bare line feeds, a
// space before the colon. Pure. A problem means: answer it and close.
std::variant<HeadIncomplete, RequestHead, Problem> check_head(std::string_view bytes);

}  // namespace sluice::http
