#include "door/http/problem.hpp"

#include <algorithm>
#include <chrono>

#include <boost/beast/http/status.hpp>

#include "base/json_text.hpp"

namespace sluice::http {
namespace {

struct Kind {
    unsigned status;
    std::string_view code;
};

Kind kind_of(SlotFault fault) {
    switch (fault) {
        case SlotFault::UnknownConfig: return {404, "config_not_found"};
        case SlotFault::UnknownEvent: return {404, "event_not_found"};
        case SlotFault::Cancelled: return {409, "cancelled"};
        case SlotFault::DifferentBody: return {422, "different_body"};
        case SlotFault::WeightAboveCap: return {400, "weight_above_cap"};
        case SlotFault::Exhausted: return {503, "exhausted"};
        case SlotFault::Contended: return {503, "contended"};
        case SlotFault::Overloaded: return {503, "overloaded"};
        case SlotFault::Unavailable: return {503, "store_unavailable"};
        case SlotFault::StoreFull: return {503, "store_full"};
        case SlotFault::WindowSizeInUse: return {409, "window_size_in_use"};
        case SlotFault::PoolWindowSize: return {409, "pool_window_size"};
        case SlotFault::RangeTooLarge: return {400, "range_too_large"};
        case SlotFault::AlreadyDispatched: return {409, "already_dispatched"};
    }
    return {500, "internal_error"};
}

Kind kind_of(LimitErrorKind error) {
    switch (error) {
        case LimitErrorKind::UnknownPlan: return {404, "plan_not_found"};
        case LimitErrorKind::InvalidKey: return {400, "invalid_key"};
        case LimitErrorKind::InvalidPlans: return {400, "invalid_plans"};
        case LimitErrorKind::InvalidCost: return {400, "invalid_tokens"};
        case LimitErrorKind::InvalidRule: return {400, "invalid_plan"};
        case LimitErrorKind::Apart: return {409, "keys_apart"};
        case LimitErrorKind::Full: return {503, "store_full"};
        case LimitErrorKind::Unavailable: return {503, "store_unavailable"};
    }
    return {500, "internal_error"};
}

}  // namespace

Problem to_problem(DispatchError error) {
    return error == DispatchError::Overloaded
               ? Problem{503, "overloaded", "Too many requests are waiting; try again shortly."}
               : Problem{503, "store_unavailable", "The store cannot answer now; try again shortly."};
}

Problem to_problem(const LimitError& error) {
    const Kind kind = kind_of(error.kind);
    const bool missing = error.kind == LimitErrorKind::UnknownPlan;
    return {kind.status, kind.code,
            error.detail + (missing ? " GET /admin/plans lists them, 'sluice plan set' makes one." : "")};
}

Problem to_problem(const SlotError& error) {
    const Kind kind = kind_of(error.fault);
    const auto window = std::chrono::ceil<std::chrono::seconds>(error.window_size);
    return {kind.status, kind.code, error.detail, std::max<std::int64_t>(1, window.count())};
}

std::string problem_json(const Problem& problem) {
    std::string json = R"({"type":"about:blank","title":)";
    append_json_string(json, reason_phrase(problem.status));
    json += R"(,"status":)" + std::to_string(problem.status) + R"(,"code":)";
    append_json_string(json, problem.code);
    json += R"(,"detail":)";
    append_json_string(json, problem.detail);
    json += '}';
    return json;
}

void append_problem(std::string& json, const Problem& problem) {
    json += R"({"code":)";
    append_json_string(json, problem.code);
    json += R"(,"status":)" + std::to_string(problem.status) + R"(,"detail":)";
    append_json_string(json, problem.detail);
    json += '}';
}

std::string_view reason_phrase(unsigned status) {
    return boost::beast::http::obsolete_reason(static_cast<boost::beast::http::status>(status));
}

}  // namespace sluice::http
