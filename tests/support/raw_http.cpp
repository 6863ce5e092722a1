#include "support/raw_http.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::test {
namespace {

std::string lower(std::string_view text) {
    std::string result{text};
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    return result;
}

}  // namespace

std::string HttpAnswer::header(std::string_view name) const {
    const std::string wanted = "\r\n" + lower(name) + ":";
    const auto at = lower(head).find(wanted);
    if (at == std::string::npos) {
        return {};
    }
    const auto start = head.find_first_not_of(' ', at + wanted.size());
    return head.substr(start, head.find("\r\n", start) - start);
}

std::string HttpAnswer::code() const {
    constexpr std::string_view kField = R"("code":")";
    const auto at = body.find(kField);
    return at == std::string::npos
               ? std::string{}
               : body.substr(at + kField.size(), body.find('"', at + kField.size()) - at - kField.size());
}

int connect_to(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{10, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        ::close(socket);
        throw std::runtime_error{"cannot connect to the server"};
    }
    return socket;
}

void RawHttp::send(std::string_view bytes) const {
    while (!bytes.empty()) {
        const std::size_t sent = stream_->send(bytes);
        if (sent == 0) {
            throw std::runtime_error{"the server takes nothing more"};
        }
        bytes.remove_prefix(sent);
    }
}

void RawHttp::try_send(std::string_view bytes) const {
    try {
        send(bytes);
    } catch (const std::runtime_error&) {
        return;
    }
}

bool RawHttp::fill() {
    std::array<char, 65536> buffer{};
    const std::size_t got = stream_->receive(buffer);
    unread_.append(buffer.data(), got);
    return got > 0;
}

std::optional<HttpAnswer> RawHttp::read() {
    while (unread_.find("\r\n\r\n") == std::string::npos) {
        if (!fill()) {
            return std::nullopt;
        }
    }
    HttpAnswer answer;
    const auto head_end = unread_.find("\r\n\r\n") + 4;
    answer.head = unread_.substr(0, head_end);
    answer.status = std::stoi(answer.head.substr(9, 3));
    unread_.erase(0, head_end);
    if (answer.header("transfer-encoding") == "chunked") {
        for (;;) {
            while (unread_.find("\r\n") == std::string::npos) {
                if (!fill()) {
                    return std::nullopt;
                }
            }
            const auto size = std::stoul(unread_, nullptr, 16);
            const auto start = unread_.find("\r\n") + 2;
            while (unread_.size() < start + size + 2) {
                if (!fill()) {
                    return std::nullopt;
                }
            }
            answer.body += unread_.substr(start, size);
            unread_.erase(0, start + size + 2);
            if (size == 0) {
                return answer;
            }
        }
    }
    const std::string length = answer.header("content-length");
    const std::size_t size = length.empty() ? 0 : std::stoul(length);
    while (unread_.size() < size) {
        if (!fill()) {
            return std::nullopt;
        }
    }
    answer.body = unread_.substr(0, size);
    unread_.erase(0, size);
    return answer;
}

bool RawHttp::closed() { return unread_.empty() && !fill(); }

std::string request_text(std::string_view method, std::string_view target, std::string_view body,
                         std::string_view headers) {
    std::string text{method};
    text += ' ';
    text += target;
    text += " HTTP/1.1\r\nHost: localhost\r\n";
    text += headers;
    if (!body.empty() || method == "POST") {
        text += "Content-Length: ";
        text += std::to_string(body.size());
        text += "\r\n";
    }
    text += "\r\n";
    text += body;
    return text;
}

HttpAnswer call(std::uint16_t port, std::string_view method, std::string_view target, std::string_view body) {
    RawHttp http{port};
    http.send(request_text(method, target, body));
    return http.read().value();
}

}  // namespace sluice::test
