#include "door/http/request_head.hpp"

#include <algorithm>

namespace sluice::http {
namespace {

Problem malformed(std::string detail) { return {400, "malformed_request", std::move(detail)}; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view text, std::string_view lower_case) {
    return text.size() == lower_case.size() && std::equal(text.begin(), text.end(), lower_case.begin(),
                                                          [](char a, char b) { return lower(a) == b; });
}

bool is_token_character(char c) {
    constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           kOthers.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

bool has_control_character(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && byte != '\t') || byte == 0x7F;
    });
}

bool has_bare_line_feed(std::string_view bytes) {
    for (std::size_t at = bytes.find('\n'); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
        if (at == 0 || bytes[at - 1] != '\r') {
            return true;
        }
    }
    return false;
}

std::string_view trim(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<Problem> read_request_line(std::string_view line, RequestHead& head) {
    const auto method_end = line.find(' ');
    const auto target_end = line.rfind(' ');
    if (method_end == std::string_view::npos || target_end <= method_end) {
        return malformed("The request line is not 'METHOD target HTTP/1.1'.");
    }
    head.method = line.substr(0, method_end);
    head.target = line.substr(method_end + 1, target_end - method_end - 1);
    const std::string_view version = line.substr(target_end + 1);
    if (head.target.size() > kTargetBytesMax) {
        return Problem{414, "uri_too_long", "The request target is longer than 8 KiB."};
    }
    if (!is_token(head.method) || head.target.empty() || head.target.find(' ') != std::string_view::npos ||
        has_control_character(head.target)) {
        return malformed("The request line is not 'METHOD target HTTP/1.1'.");
    }
    head.http_1_0 = version == "HTTP/1.0";
    if (version == "HTTP/1.1" || head.http_1_0) {
        return std::nullopt;
    }
    const bool other_version = version.size() == 8 && version.starts_with("HTTP/") && version[6] == '.';
    return other_version
               ? Problem{505, "version_not_supported", "Only HTTP/1.1 and HTTP/1.0 are spoken here."}
               : malformed("The request line does not end in an HTTP version.");
}

// What the header lines say, with what may stand only once counted.
struct HeaderCounts {
    int lengths = 0;
    int encodings = 0;
    int hosts = 0;
};

std::optional<Problem> read_length(std::string_view value, RequestHead& head) {
    const bool digits = !value.empty() && value.size() <= 18 &&
                        std::all_of(value.begin(), value.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) {
        return malformed("Content-Length is not a plain number.");
    }
    std::uint64_t length = 0;
    for (const char c : value) {
        length = length * 10 + static_cast<std::uint64_t>(c - '0');
    }
    head.content_length = length;
    return std::nullopt;
}

std::optional<Problem> read_header_line(std::string_view line, RequestHead& head, HeaderCounts& counts) {
    if (line.front() == ' ' || line.front() == '\t') {
        return malformed("A header line is folded.");
    }
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
        return malformed("A header line has no proper name.");
    }
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = trim(line.substr(colon + 1));
    if (has_control_character(value)) {
        return malformed("A header value holds a control character.");
    }
    if (equal_ignoring_case(name, "content-length")) {
        ++counts.lengths;
        return read_length(value, head);
    }
    if (equal_ignoring_case(name, "transfer-encoding")) {
        ++counts.encodings;
        head.chunked = equal_ignoring_case(value, "chunked");
        if (!head.chunked) {
            return Problem{501, "encoding_not_supported",
                           "The only transfer encoding spoken here is chunked."};
        }
    } else if (equal_ignoring_case(name, "content-encoding")) {
        head.encoded = head.encoded || !(value.empty() || equal_ignoring_case(value, "identity"));
    } else if (equal_ignoring_case(name, "host")) {
        ++counts.hosts;
    } else if (equal_ignoring_case(name, "expect")) {
        head.expects_continue = equal_ignoring_case(value, "100-continue");
    }
    return std::nullopt;
}

std::optional<Problem> check_counts(const HeaderCounts& counts, const RequestHead& head) {
    if (counts.lengths > 1 || counts.encodings > 1 || (counts.lengths > 0 && counts.encodings > 0)) {
        return malformed("The length of the body is given more than once.");
    }
    if (counts.encodings > 0 && head.http_1_0) {
        return malformed("HTTP/1.0 has no transfer encodings.");
    }
    if (counts.hosts > 1 || (counts.hosts == 0 && !head.http_1_0)) {
        return malformed("There must be one Host header.");
    }
    return std::nullopt;
}

// Too much without an end, or an end that will never come.
std::optional<Problem> check_incomplete(std::string_view bytes) {
    if (has_bare_line_feed(bytes)) {
        return malformed("A line ends in a bare line feed.");
    }
    if (bytes.find("\r\n") == std::string_view::npos && bytes.size() > kTargetBytesMax + 32) {
        return Problem{414, "uri_too_long", "The request target is longer than 8 KiB."};
    }
    if (bytes.size() > kHeadBytesMax) {
        return Problem{431, "headers_too_large", "The headers are larger than 16 KiB."};
    }
    return std::nullopt;
}

}  // namespace

std::variant<HeadIncomplete, RequestHead, Problem> check_head(std::string_view bytes) {
    const auto end = bytes.find("\r\n\r\n");
    const bool complete = end != std::string_view::npos && end + 4 <= kHeadBytesMax;
    if (auto problem = check_incomplete(complete ? bytes.substr(0, end + 2) : bytes)) {
        return *std::move(problem);
    }
    if (!complete) {
        return HeadIncomplete{};
    }
    RequestHead head;
    head.size = end + 4;
    HeaderCounts counts;
    std::size_t lines = 0;
    std::string_view rest = bytes.substr(0, end + 2);
    while (!rest.empty()) {
        const auto line_end = rest.find("\r\n");
        const std::string_view line = rest.substr(0, line_end);
        auto problem = lines == 0 ? read_request_line(line, head) : read_header_line(line, head, counts);
        if (problem) {
            return *std::move(problem);
        }
        if (++lines > kHeaderLinesMax + 1) {
            return Problem{431, "headers_too_large", "There are more than 100 headers."};
        }
        rest.remove_prefix(line_end + 2);
    }
    if (auto problem = check_counts(counts, head)) {
        return *std::move(problem);
    }
    return head;
}

}  // namespace sluice::http
