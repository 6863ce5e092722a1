#include "main/client_call.hpp"

#include <ostream>

#include "files/text_file.hpp"

namespace sluice {
namespace {

Result<std::string, std::string> read_token(const Invocation& invocation) {
    const std::string path = invocation.value("token-file");
    const std::string subject = invocation.origin("token-file") + ": the token file " + path;
    auto token = read_first_line(path);
    if (!token) {
        return Unexpected{subject + " cannot be read: " + token.error() + "."};
    }
    if (token->ends_with('\r')) {
        token->pop_back();
    }
    if (token->find_first_of(std::string_view{"\r\0", 2}) != std::string::npos) {
        return Unexpected{subject + " has control characters."};
    }
    return token;
}

}  // namespace

Result<HttpResponse, std::string> CalledServer::send(HttpRequest request,
                                                     std::chrono::milliseconds patience) const {
    request.token = token;
    return send_request(address, request, patience);
}

Result<CalledServer, std::string> called_server(const Invocation& invocation) {
    const auto address = net::parse_server_url(invocation.value("server"));
    if (!address) {
        return Unexpected{invocation.origin("server") + ": " + address.error()};
    }
    CalledServer server{*address};
    if (invocation.has("token-file")) {
        auto token = read_token(invocation);
        if (!token) {
            return Unexpected{token.error()};
        }
        server.token = std::move(*token);
    }
    return server;
}

ExitCode fail_unreachable(std::ostream& errors, const std::string& sentence) {
    return fail(errors, ExitCode::Unreachable,
                sentence + " 'sluice serve' starts one; --server or SLUICE_SERVER names another.");
}

ExitCode fail(std::ostream& errors, ExitCode code, const std::string& sentence) {
    errors << "sluice: " << sentence << std::endl;
    return code;
}

}  // namespace sluice
