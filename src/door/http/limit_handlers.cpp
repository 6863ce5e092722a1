#include <algorithm>
#include <charconv>

#include <boost/json/array.hpp>

#include "door/http/await_done.hpp"
#include "door/http/json_body.hpp"
#include "door/http/json_fields.hpp"
#include "door/http/limit_desk.hpp"
#include "door/http/limit_json.hpp"
#include "door/http/target.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

constexpr std::string_view kDefaultKeyHeader = "X-Sluice-Key";

Response answer_check(const LimitReply& reply, const CheckWords& words) {
    if (!reply) {
        return answer(to_problem(reply.error()));
    }
    Response response{reply->allowed ? 200U : 429U};
    response.body.reserve(160);
    append_answer(response.body, *reply);
    response.headers = rate_limit_headers(*reply, {words.plans.data(), words.count});
    return response;
}

Result<CheckWords, Problem> read_words(const JsonBody& body) {
    return body.object() == nullptr ? Unexpected{body.problem()} : read_check(*body.object());
}

boost::asio::awaitable<std::optional<LimitReply>> await_check(const LimitDesk& desk,
                                                              const CheckWords& words) {
    auto start = [&](LimitService::Done<LimitAnswer> done) {
        desk.limits.check(words.question(), std::move(done));
    };
    co_return co_await await_done<LimitReply>(start);
}

// The checks of a batch, each read or with why it is none.
struct CheckBatch {
    bool atomic = false;
    std::vector<Result<CheckWords, Problem>> checks;

    [[nodiscard]] std::vector<LimitQuestion> questions() const {
        std::vector<LimitQuestion> all;
        for (const auto& check : checks) {
            if (check) {
                all.push_back(check->question());
            }
        }
        return all;
    }
};

Result<CheckBatch, Problem> read_batch(const JsonBody& body) {
    if (body.object() == nullptr) {
        return Unexpected{body.problem()};
    }
    if (auto problem = check_known(*body.object(), kCheckBatchFields)) {
        return Unexpected{*std::move(problem)};
    }
    const auto atomic = read_flag(*body.object(), "atomic");
    if (!atomic) {
        return Unexpected{atomic.error()};
    }
    const json::value* checks = body.object()->if_contains("checks");
    const json::array* all = checks == nullptr ? nullptr : checks->if_array();
    if (all == nullptr || all->empty() || all->size() > LimitService::kChecksMax) {
        return Unexpected{bad("invalid_checks", "checks must be an array of 1 to 1000 checks.")};
    }
    CheckBatch batch{*atomic, {}};
    for (const json::value& check : *all) {
        const json::object* object = check.if_object();
        batch.checks.push_back(object == nullptr
                                   ? Result<CheckWords, Problem>{Unexpected{JsonBody::not_an_object()}}
                                   : read_check(*object));
    }
    return batch;
}

std::string batch_json(const CheckBatch& batch, const std::vector<LimitReply>& replies) {
    std::string body = R"({"results":[)";
    auto reply = replies.begin();
    for (const auto& check : batch.checks) {
        body += body.back() == '[' ? "" : ",";
        if (check && *reply) {
            append_answer(body, **reply);
        } else {
            body += R"({"error":)";
            append_problem(body, check ? to_problem(reply->error()) : check.error());
            body += '}';
        }
        reply += check ? 1 : 0;
    }
    return body + "]}";
}

// All or none: one answer that speaks for all, with the number of the check whose plan it is.
Answer check_together(const LimitDesk& desk, const CheckBatch& batch) {
    for (std::size_t i = 0; i < batch.checks.size(); ++i) {
        if (!batch.checks[i]) {
            Problem problem = batch.checks[i].error();
            problem.detail = "Check " + std::to_string(i + 1) + " of the batch: " + problem.detail;
            co_return answer(problem);
        }
    }
    const auto questions = batch.questions();
    auto start = [&](LimitService::Done<LimitAnswer> done) {
        desk.limits.check_together(questions, std::move(done));
    };
    const auto reply = co_await await_done<LimitReply>(start);
    if (!*reply) {
        co_return answer(to_problem(reply->error()));
    }
    const LimitAnswer& told = **reply;
    Response response = answer_check(*reply, *batch.checks[told.check]);
    response.body.pop_back();
    response.body += R"(,"check":)" + std::to_string(told.check) + '}';
    co_return response;
}

// What a query and headers ask for. The views point into `target` and the headers.
Result<CheckWords, Problem> read_authorization(const Target& target, const HeaderSource& headers) {
    const auto named = target.parameter("keyHeader");
    const auto given = target.parameter("key");
    const auto key = read_key(given ? *given : headers.find(named ? *named : kDefaultKeyHeader));
    if (!key) {
        return Unexpected{key.error()};
    }
    const auto names = read_plan_names(target.parameter("plan").value_or(""));
    if (!names || names->empty()) {
        return Unexpected{names ? bad("invalid_plans", "plan is missing.") : names.error()};
    }
    CheckWords words{*key, {}, names->size(), 1};
    std::copy(names->begin(), names->end(), words.plans.begin());
    if (const auto tokens = target.parameter("tokens")) {
        const char* const end = tokens->data() + tokens->size();
        const auto [behind, error] = std::from_chars(tokens->data(), end, words.tokens);
        if (error != std::errc{} || behind != end || words.tokens < 0) {
            return Unexpected{bad("invalid_tokens", "tokens must be a whole number, 0 or more.")};
        }
    }
    return words;
}

}  // namespace

Answer check_limits(const LimitDesk& desk, const Request& request) {
    const JsonBody body{request.body};
    const auto words = read_words(body);
    if (!words) {
        co_return answer(words.error());
    }
    if (const auto known = desk.limits.check_at_once(words->question())) {
        co_return answer_check(*known, *words);
    }
    const auto reply = co_await await_check(desk, *words);
    co_return answer_check(*reply, *words);
}

Answer check_limits_batch(const LimitDesk& desk, const Request& request) {
    const JsonBody body{request.body};
    const auto batch = read_batch(body);
    if (!batch) {
        co_return answer(batch.error());
    }
    if (batch->atomic) {
        co_return co_await check_together(desk, *batch);
    }
    const auto questions = batch->questions();
    auto start = [&](LimitService::EachDone done) { desk.limits.check_each(questions, std::move(done)); };
    const auto replies = co_await await_done<std::vector<LimitReply>>(start);
    co_return answer_json(batch_json(*batch, *replies));
}

Answer refund_tokens(const LimitDesk& desk, const Request& request) {
    const JsonBody body{request.body};
    const auto words = read_words(body);
    if (!words) {
        co_return answer(words.error());
    }
    auto start = [&](LimitService::Done<std::monostate> done) {
        desk.limits.refund(words->question(), std::move(done));
    };
    const auto given = co_await await_done<Result<std::monostate, LimitError>>(start);
    co_return *given ? answer_json(R"({"status":"ok"})") : answer(to_problem(given->error()));
}

Answer release_lease(const LimitDesk& desk, const Request& request) {
    const JsonBody body{request.body};
    if (body.object() == nullptr) {
        co_return answer(body.problem());
    }
    if (const auto problem = check_known(*body.object(), kReleaseFields)) {
        co_return answer(*problem);
    }
    const auto text = read_text(*body.object(), "key", "invalid_key");
    const auto plan = read_text(*body.object(), "plan", "invalid_plans");
    const auto lease = read_lease(*body.object());
    const auto key =
        text ? read_key(text->value_or("")) : Result<std::string_view, Problem>{Unexpected{text.error()}};
    if (!key || !plan || !lease) {
        co_return answer(!key ? key.error() : !plan ? plan.error() : lease.error());
    }
    auto start = [&](LimitService::Done<bool> done) {
        desk.limits.release(*key, plan->value_or(""), *lease, std::move(done));
    };
    const auto held = co_await await_done<Result<bool, LimitError>>(start);
    if (!*held) {
        co_return answer(to_problem(held->error()));
    }
    co_return answer_json(**held ? R"({"released":true})" : R"({"released":false})");
}

Answer authorize(const LimitDesk& desk, const Request& request) {
    const auto target = parse_target(request.target);
    if (!target) {
        co_return answer({400, "malformed_request", "The query cannot be read."});
    }
    const auto words = read_authorization(*target, *request.headers);
    if (!words) {
        co_return answer(words.error());
    }
    Response response;
    if (const auto known = desk.limits.check_at_once(words->question())) {
        response = answer_check(*known, *words);
    } else {
        const auto reply = co_await await_check(desk, *words);
        response = answer_check(*reply, *words);
    }
    if (response.status == 200 || response.status == 429) {
        response.content_type = {};
        response.body.clear();
    }
    co_return response;
}

}  // namespace sluice::http
