#include "main/client_call.hpp"

#include <ostream>

#include "files/text_file.hpp"
#include "main/version.hpp"

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

// Null for a server without TLS.
Result<std::shared_ptr<net::TlsContext>, std::string> open_tls(const Invocation& invocation,
                                                               const net::ServerUrl& url) {
    if (!url.tls) {
        return std::shared_ptr<net::TlsContext>{};
    }
    if (invocation.has("client-cert") != invocation.has("client-key")) {
        return Unexpected{std::string{"--client-cert and --client-key belong together; give both."}};
    }
    return net::open_tls_client(
        {invocation.value("ca"), invocation.value("client-cert"), invocation.value("client-key")});
}

}  // namespace

Result<net::HttpResponse, NoAnswer> CalledServer::send(net::HttpRequest request,
                                                       std::chrono::milliseconds patience) const {
    request.repeatable = request.method == "GET";
    if (!request.body.empty()) {
        request.headers.emplace_back("Content-Type", "application/json");
    }
    if (!token.empty()) {
        request.headers.emplace_back("Authorization", "Bearer " + token);
    }
    auto outcome = client->send(url, std::move(request), patience);
    if (outcome) {
        return *std::move(outcome);
    }
    NoAnswer none{outcome.error().sentence};
    if (outcome.error().kind == net::HttpFault::Kind::Tls) {
        none.advice =
            "--ca names the authority of a private certificate, --client-cert and --client-key what the "
            "server "
            "is shown, and http:// speaks without TLS.";
    }
    return Unexpected{std::move(none)};
}

Result<CalledServer, std::string> called_server(const Invocation& invocation) {
    auto url = net::parse_server_url(invocation.value("server"));
    if (!url) {
        return Unexpected{invocation.origin("server") + ": " + url.error()};
    }
    auto tls = open_tls(invocation, *url);
    if (!tls) {
        return Unexpected{tls.error()};
    }
    CalledServer server{*std::move(url), {}, *std::move(tls), nullptr};
    if (invocation.has("token-file")) {
        auto token = read_token(invocation);
        if (!token) {
            return Unexpected{token.error()};
        }
        server.token = std::move(*token);
    }
    net::HttpClientOptions options;
    options.user_agent = "sluice/" + std::string{version()};
    options.tls = server.tls;
    server.client = std::make_unique<net::BlockingHttpClient>(std::move(options));
    return server;
}

ExitCode fail_unreachable(std::ostream& errors, const NoAnswer& none) {
    return fail(errors, ExitCode::Unreachable, none.sentence + " " + none.advice);
}

ExitCode fail(std::ostream& errors, ExitCode code, const std::string& sentence) {
    errors << "sluice: " << sentence << std::endl;
    return code;
}

}  // namespace sluice
