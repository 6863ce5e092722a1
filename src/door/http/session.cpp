#include "door/http/session.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "door/http/body_pace.hpp"
#include "door/http/local_name.hpp"
#include "door/http/request_head.hpp"
#include "door/http/response_text.hpp"
#include "door/http/routes.hpp"

namespace sluice::http {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;

using Parser = beast_http::request_parser<beast_http::string_body>;

// In this folder every co_await stands alone in its statement: inside conditions and larger expressions GCC
// 12 generates code that traps or destroys temporaries twice.

constexpr std::size_t kHeadPiece = 4 * 1024;
constexpr std::size_t kBodyPiece = 64 * 1024;
constexpr std::size_t kUncountedBytes = kBodyBytesMax + kHeadBytesMax;  // Any request may take so much.
constexpr std::chrono::seconds kRoomPatience{30};

Problem too_late() { return {408, "request_timeout", "The request did not arrive in time."}; }

// Without a type the body is taken for JSON, except on admin routes: a web page can send such a body to a
// loopback listener without asking anyone, but not one that says application/json.
bool is_json_type(std::string_view type, Access access) {
    std::string_view essence = type.substr(0, type.find(';'));
    while (essence.ends_with(' ') || essence.ends_with('\t')) {
        essence.remove_suffix(1);
    }
    return essence.empty() ? access == Access::Open : boost::beast::iequals(essence, "application/json");
}

class MessageHeaders final : public HeaderSource {
public:
    explicit MessageHeaders(const beast_http::fields& fields) : fields_{fields} {}
    std::string_view find(std::string_view name) const override {
        const auto value = fields_[{name.data(), name.size()}];
        return {value.data(), value.size()};
    }

private:
    const beast_http::fields& fields_;
};

class Session {
public:
    Session(Connection connection, SessionWorld& world) : connection_{connection}, world_{world} {}

    asio::awaitable<void> run() {
        bool more = true;
        while (more) {
            more = co_await serve_one();
        }
    }

private:
    // Serves one request. False when the connection is at its end.
    asio::awaitable<bool> serve_one() {
        const auto head = co_await read_head();
        if (!head) {
            co_return false;
        }
        const RouteMatch match = world_.router.find(head->method, head->target);
        if (auto problem = check_route(*head, match)) {
            co_return co_await refuse(*head, *problem, match);
        }
        if (const auto* stream = std::get_if<StreamHandler>(&match.route->handler)) {
            co_return co_await (*stream)(*match.desk, {connection_, *head, world_.options});
        }
        co_return co_await serve_with_body(*head, match);
    }

    // The next request's head, or nothing when there is none: the client left, or was told what is wrong.
    asio::awaitable<std::optional<RequestHead>> read_head() {
        connection_.set_idle(connection_.unread().empty());
        head_started_ = std::chrono::steady_clock::now();
        for (;;) {
            auto checked = check_head(connection_.unread());
            if (auto* head = std::get_if<RequestHead>(&checked)) {
                connection_.set_idle(false);
                co_return *head;
            }
            if (auto* problem = std::get_if<Problem>(&checked)) {
                co_await send_last(*problem);
                co_return std::nullopt;
            }
            const bool waiting = connection_.unread().empty();
            if (waiting && connection_.draining()) {
                co_return std::nullopt;
            }
            const auto patience = waiting ? world_.options.idle_timeout : head_patience();
            const bool got_more = co_await connection_.read_more(kHeadPiece, patience);
            if (!got_more) {
                if (!waiting && connection_.timed_out()) {
                    const Problem problem = too_late();
                    co_await send_last(problem);
                }
                co_return std::nullopt;
            }
            if (waiting) {
                connection_.set_idle(false);
                head_started_ = std::chrono::steady_clock::now();
            }
        }
    }

    // All of the head must come within the time-out, however small the pieces are.
    std::chrono::seconds head_patience() const {
        const auto spent = std::chrono::steady_clock::now() - head_started_;
        return std::max(std::chrono::seconds{0}, world_.options.receive_timeout -
                                                     std::chrono::duration_cast<std::chrono::seconds>(spent));
    }

    std::optional<Problem> check_route(const RequestHead& head, const RouteMatch& match) const {
        if (match.route == nullptr) {
            return match.allowed.empty()
                       ? Problem{404, "not_found", "There is nothing at this path."}
                       : Problem{405, "method_not_allowed", "This path does not take this method."};
        }
        const RouteBody& body = match.route->body;
        if (head.encoded && body.kind != BodyKind::None) {
            return Problem{415, "content_encoding_not_supported",
                           "The body must be sent without Content-Encoding."};
        }
        const bool stream = std::holds_alternative<StreamHandler>(match.route->handler);
        if (stream && head.http_1_0) {
            return Problem{505, "version_not_supported", "A stream needs HTTP/1.1."};
        }
        if (!stream && head.content_length.value_or(0) > body.max) {
            return Problem{413, "body_too_large",
                           "The body is larger than " + std::to_string(body.max) + " bytes."};
        }
        return std::nullopt;
    }

    asio::awaitable<bool> serve_with_body(const RequestHead& head, const RouteMatch& match) {
        const bool head_only = head.method == "HEAD";
        const bool http_1_0 = head.http_1_0;
        std::optional<Parser> parser{std::in_place};
        parser->body_limit(match.route->body.max);
        parser->header_limit(kHeadBytesMax);
        parser->eager(true);
        if (head.expects_continue && connection_.unread().size() == head.size) {
            const bool told = co_await connection_.write("HTTP/1.1 100 Continue\r\n\r\n");
            if (!told) {
                co_return false;
            }
        }
        // Held while the body is: reading, parsing and answering.
        BodyShare share{world_.large_bodies};
        const std::optional<Problem> problem = co_await read_body(*parser, share);
        if (problem) {
            co_await send_last(*problem, match.route);
            co_return false;
        }
        if (!parser->is_done()) {
            co_return false;
        }
        Response response = co_await respond(parser->get(), match);
        const bool stays = parser->keep_alive() && !response.close && !connection_.draining();
        parser.reset();
        const ResponseFrame frame{connection_.date_line(), stays ? After::KeepAlive : After::Close, http_1_0,
                                  head_only, match.route};
        out_.clear();
        append_response(out_, response, frame);
        const bool written = co_await connection_.write(out_);
        if (out_.capacity() > kBodyPiece) {
            out_ = {};
        }
        connection_.shrink();
        co_return written&& stays;
    }

    // Reads until the parser has the whole request. A problem is to be answered; an incomplete parser without
    // one means that the client is gone.
    asio::awaitable<std::optional<Problem>> read_body(Parser& parser, BodyShare& share) {
        BodyPace pace{world_.options, std::chrono::steady_clock::now()};
        std::size_t received = 0;
        for (;;) {
            const bool roomy = co_await make_room(parser.get().body().size(), share, pace);
            if (!roomy) {
                co_return Problem{503, "overloaded",
                                  "Too many large requests are under way; try again shortly."};
            }
            boost::system::error_code error;
            const std::string_view bytes = connection_.unread();
            const std::size_t used = parser.put(asio::buffer(bytes.data(), bytes.size()), error);
            connection_.consume(used);
            received += used;
            if (auto problem = check_body(error)) {
                co_return problem;
            }
            if (parser.is_done()) {
                co_return std::nullopt;
            }
            if (error || connection_.unread().empty()) {
                const auto patience = pace.patience(received, std::chrono::steady_clock::now());
                const bool got_more = co_await connection_.read_more(kBodyPiece, patience);
                if (!got_more) {
                    co_return connection_.timed_out() ? std::optional{too_late()} : std::nullopt;
                }
            }
        }
    }

    // Waits until there is memory for what has arrived, if it is much. The wait is not the sender's fault.
    asio::awaitable<bool> make_room(std::size_t kept, BodyShare& share, BodyPace& pace) {
        const std::size_t bytes = kept + connection_.unread().size();
        if (bytes <= kUncountedBytes) {
            co_return true;
        }
        const auto before = std::chrono::steady_clock::now();
        const bool granted = co_await share.grow_to(bytes, kRoomPatience);
        pace.excuse(std::chrono::steady_clock::now() - before);
        co_return granted;
    }

    // What is wrong with a body after the parser has had all there is.
    std::optional<Problem> check_body(boost::system::error_code error) const {
        if (error == beast_http::error::body_limit) {
            return Problem{413, "body_too_large", "The body is larger than this path takes."};
        }
        if (error && error != beast_http::error::need_more) {
            return Problem{400, "malformed_request", "The request cannot be read: " + error.message() + "."};
        }
        // Of a body the parser leaves nothing: this is a line around it that has no end.
        if (error && connection_.unread().size() > kHeadBytesMax) {
            return Problem{431, "headers_too_large",
                           "A chunk's extensions or the trailers are larger than 16 KiB."};
        }
        return std::nullopt;
    }

    asio::awaitable<Response> respond(const Parser::value_type& message, const RouteMatch& match) {
        const Route& route = *match.route;
        if (route.body.kind == BodyKind::Json &&
            !is_json_type(message[beast_http::field::content_type], route.access)) {
            co_return answer({415, "type_not_supported", "The body must be application/json."},
                             route.error_text);
        }
        const MessageHeaders headers{message};
        Request request{message.target(), message.body(), match.capture, {}, &headers};
        if (route.tells_who) {
            request.remote = connection_.remote_address();
        }
        if (route.access == Access::Admin) {
            if (auto refusal = admit(request, route.error_text)) {
                co_return *std::move(refusal);
            }
        }
        try {
            if (const auto* quick = std::get_if<QuickHandler>(&route.handler)) {
                co_return (*quick)(*match.desk, request);
            }
            co_return co_await std::get<WaitingHandler>(route.handler)(*match.desk, request);
        } catch (const std::exception& failure) {
            world_.log.write(LogLevel::Error, "HttpDoor", std::string{"A handler failed: "} + failure.what());
            co_return answer({500, "internal_error", "The request could not be handled."}, route.error_text);
        }
    }

    // Notes in the request which token let it in.
    std::optional<Response> admit(Request& request, ErrorText words) {
        const std::string& remote = request.remote;
        switch (world_.gate.admit(request.headers->find("Authorization"), remote)) {
            case Admission::Granted: request.token = "admin token"; return std::nullopt;
            case Admission::Unguarded: return admit_locally(*request.headers, remote, words);
            case Admission::TooManyTries:
                return answer(
                    {429, "too_many_tries", "Too many wrong tokens from this address; wait a minute.", 60},
                    words);
            case Admission::TokenMissing: break;
        }
        world_.log.write(LogLevel::Warn, "Audit", remote + " was refused: no valid token");
        Response response = answer({401, "token_required", "This path needs a bearer token."}, words);
        response.headers = "WWW-Authenticate: Bearer realm=\"sluice\"\r\n";
        return response;
    }

    // Without a token a path is open because only this machine can reach it. A page in a browser on it can
    // too, but then the browser tells whose page it is.
    std::optional<Response> admit_locally(const HeaderSource& headers, const std::string& remote,
                                          ErrorText words) {
        const std::string_view origin = headers.find("Origin");
        if (is_local_host(headers.find("Host")) && (origin.empty() || is_local_origin(origin))) {
            return std::nullopt;
        }
        world_.log.write(LogLevel::Warn, "Audit", remote + " was refused: a foreign Host or Origin");
        return answer(
            {403, "foreign_host",
             "Host and Origin must name localhost or a loopback address: without a token this path is "
             "open to this machine only."},
            words);
    }

    // Refuses before the body is read. The connection goes on only when there is no body to skip.
    asio::awaitable<bool> refuse(const RequestHead& head, const Problem& problem, const RouteMatch& match) {
        Response response = answer(problem, words_of(match.route));
        if (!match.allowed.empty()) {
            response.headers = "Allow: " + match.allowed + "\r\n";
        } else if (problem.status == 415) {
            response.headers = "Accept-Encoding: identity\r\n";
        }
        if (head.chunked || head.content_length.value_or(0) > 0 || head.http_1_0) {
            co_await send_last(response, match.route);
            co_return false;
        }
        const bool stays = !connection_.draining();
        const ResponseFrame frame{connection_.date_line(), stays ? After::KeepAlive : After::Close, false,
                                  head.method == "HEAD", match.route};
        connection_.consume(head.size);
        out_.clear();
        append_response(out_, response, frame);
        const bool written = co_await connection_.write(out_);
        co_return written&& stays;
    }

    static ErrorText words_of(const Route* route) { return route == nullptr ? nullptr : route->error_text; }

    asio::awaitable<void> send_last(const Problem& problem, const Route* route = nullptr) {
        const Response response = answer(problem, words_of(route));
        co_await send_last(response, route);
    }

    asio::awaitable<void> send_last(const Response& response, const Route* route) {
        out_.clear();
        append_response(out_, response, {connection_.date_line(), After::Close, false, false, route});
        const bool written = co_await connection_.write(out_);
        if (written) {
            co_await connection_.linger();
        }
    }

    Connection connection_;
    SessionWorld& world_;
    std::chrono::steady_clock::time_point head_started_{};
    std::string out_;
};

}  // namespace

asio::awaitable<void> serve_connection(Connection connection, SessionWorld& world) {
    Session session{connection, world};
    co_await session.run();
}

asio::awaitable<void> turn_away(Connection connection) {
    std::string out;
    append_response(out, answer({503, "overloaded", "There are too many connections."}),
                    {connection.date_line(), After::Close});
    const bool written = co_await connection.write(out);
    if (written) {
        co_await connection.linger();
    }
}

}  // namespace sluice::http
