#include "door/http/audit.hpp"
#include "door/http/await_done.hpp"
#include "door/http/gateway_desk.hpp"
#include "door/http/gateway_json.hpp"
#include "door/http/gateway_words.hpp"
#include "door/http/json_body.hpp"

namespace sluice::http {
namespace {

Problem invalid() { return {400, "invalid_arguments", {}}; }
Problem to_problem(GatewayRefusal refusal) {
    return {503, refusal == GatewayRefusal::StoreDown ? "store_unavailable" : "overloaded", {}};
}

Response refuse(const Problem& problem) { return answer(problem, gateway_words); }

std::int64_t whole_seconds(Duration duration) {
    return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

Problem to_problem(const SendAnswer& told) {
    switch (told.outcome) {
        case SendOutcome::UnknownUser: return {404, "user_not_found", {}};
        case SendOutcome::Limited: return {429, "rate_limit_exceeded", {}, whole_seconds(told.retry_after)};
        case SendOutcome::StoreDown: return {503, "store_unavailable", {}};
        case SendOutcome::PublisherDown: return {503, "publisher_unavailable", {}};
        case SendOutcome::Overloaded:
        case SendOutcome::Accepted: break;
    }
    return {503, "overloaded", {}};
}

Response answer_send(const SendAnswer& told) {
    Response response = told.outcome == SendOutcome::Accepted
                            ? Response{200, "text/plain; charset=utf-8", "Message Sent Successfully"}
                            : refuse(to_problem(told));
    if (told.id) {
        response.headers += "Message-Id: " + told.id->text() + "\r\n";
    }
    return response;
}

std::optional<MessageDraft> read_draft(const Request& request) {
    const JsonBody body{request.body};
    return body.object() == nullptr ? std::nullopt
                                    : read_message(*body.object(), request.headers->find("Idempotency-Key"));
}

}  // namespace

Answer set_user(const GatewayDesk& desk, const Request& request) {
    const auto draft = [&]() -> std::optional<UserDraft> {
        const JsonBody body{request.body};
        return body.object() == nullptr ? std::nullopt : read_user(*body.object());
    }();
    if (!draft) {
        co_return refuse(invalid());
    }
    auto start = [&](GatewayService::Done<UserWindow> done) {
        desk.gateway.put_user(draft->user, draft->terms, std::move(done));
    };
    const auto window = co_await await_done<Result<UserWindow, GatewayRefusal>>(start);
    if (!*window) {
        co_return refuse(to_problem(window->error()));
    }
    std::string body = user_json(draft->user, **window);
    audit(desk.log, request, "set a user: " + body);
    co_return answer_json(std::move(body));
}

Answer get_user(const GatewayDesk& desk, const Request& request) {
    const auto user = read_user_id(request.capture);
    if (!user) {
        co_return refuse(invalid());
    }
    auto start = [&](GatewayService::Done<std::optional<UserWindow>> done) {
        desk.gateway.find_user(*user, std::move(done));
    };
    const auto found = co_await await_done<Result<std::optional<UserWindow>, GatewayRefusal>>(start);
    if (!*found) {
        co_return refuse(to_problem(found->error()));
    }
    const auto& window = **found;
    co_return window ? answer_json(user_json(*user, *window)) : refuse({404, "user_not_found", {}});
}

Answer send_message(const GatewayDesk& desk, const Request& request) {
    auto draft = read_draft(request);
    if (!draft) {
        co_return refuse(invalid());
    }
    auto start = [&](UniqueFunction<void(SendAnswer)> done) {
        desk.gateway.send(*std::move(draft), std::move(done));
    };
    const auto told = co_await await_done<SendAnswer>(start);
    co_return answer_send(*told);
}

Answer get_message(const GatewayDesk& desk, const Request& request) {
    const auto id = MessageId::make(request.capture);
    if (!id) {
        co_return refuse({404, "message_not_found", {}});
    }
    auto start = [&](GatewayService::Done<std::optional<MessageStory>> done) {
        desk.gateway.find_message(*id, std::move(done));
    };
    const auto found = co_await await_done<Result<std::optional<MessageStory>, GatewayRefusal>>(start);
    if (!*found) {
        co_return refuse(to_problem(found->error()));
    }
    const auto& story = **found;
    co_return story ? answer_json(message_json(*story)) : refuse({404, "message_not_found", {}});
}

}  // namespace sluice::http
