#include "door/http/response_text.hpp"

#include "door/http/declared_replies.hpp"

namespace sluice::http {

Response answer(const Problem& problem, ErrorText words) {
    Response response{problem.status};
    if (words != nullptr) {
        response.content_type = "text/plain; charset=utf-8";
        response.body = words(problem);
    } else {
        response.content_type = "application/problem+json";
        response.body = problem_json(problem);
    }
    response.code = problem.code;
    if (problem.status == 503 || problem.status == 429) {
        response.headers = "Retry-After: " + std::to_string(problem.retry_after_seconds) + "\r\n";
    }
    return response;
}

void append_response(std::string& out, const Response& response, const ResponseFrame& frame) {
    expect_declared(frame.route, response);
    out += "HTTP/1.1 ";
    out += std::to_string(response.status);
    out += ' ';
    out += reason_phrase(response.status);
    out += "\r\n";
    out += frame.date_line;
    out += response.headers;
    if (response.status != 204) {
        if (!response.content_type.empty()) {
            out += "Content-Type: ";
            out += response.content_type;
            out += "\r\n";
        }
        out += "Content-Length: ";
        out += std::to_string(response.body.size());
        out += "\r\n";
    }
    if (frame.after == After::Close) {
        out += "Connection: close\r\n";
    } else if (frame.http_1_0) {
        out += "Connection: keep-alive\r\n";
    }
    out += "\r\n";
    if (!frame.head_only) {
        out += response.body;
    }
}

}  // namespace sluice::http
