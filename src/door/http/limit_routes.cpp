#include "door/http/limit_desk.hpp"

namespace sluice::http {
namespace {

// Of any JSON body.
constexpr std::string_view kBadBody = "malformed_json invalid_number unknown_field";
constexpr std::string_view kBadCheck = "invalid_key invalid_plans invalid_tokens";
constexpr std::string_view kRateLimits = "RateLimit-Policy RateLimit";

constexpr std::array kCheck{
    with(kRateLimits, gives(200, "CheckAnswer")),
    refuses(400, kBadBody),
    refuses(400, kBadCheck),
    refuses(404, "plan_not_found"),
    with(kRateLimits, gives(429, "CheckAnswer")),
};
constexpr std::array kCheckBatch{
    with(kRateLimits, gives(200, "CheckBatchAnswer")),
    refuses(400, kBadBody),
    refuses(400, "invalid_checks invalid_flag"),
    refuses(400, kBadCheck),
    refuses(404, "plan_not_found"),
    refuses(409, "keys_apart"),
    with(kRateLimits, gives(429, "CheckAnswer")),
};
constexpr std::array kRefund{
    gives(200, "Status"),
    refuses(400, kBadBody),
    refuses(400, kBadCheck),
    refuses(404, "plan_not_found"),
    refuses(503, "store_unavailable"),
};
constexpr std::array kReleaseLease{
    gives(200, "Released"),
    refuses(400, kBadBody),
    refuses(400, "invalid_key invalid_plans invalid_lease"),
    refuses(404, "plan_not_found"),
    refuses(503, "store_unavailable"),
};
constexpr std::array kAuthorize{
    with(kRateLimits, gives_nothing(200)),
    refuses(400, kBadCheck),
    refuses(404, "plan_not_found"),
    with(kRateLimits, gives_nothing(429)),
};

constexpr std::array kListPlans{gives(200, "Plans")};
constexpr std::array kGetPlan{gives(200, "Plan"), refuses(404, "plan_not_found")};
constexpr std::array kPutPlan{
    gives(200, "Plan"),
    refuses(400, kBadBody),
    refuses(400, "invalid_plan invalid_number invalid_flag"),
    refuses(503, "store_unavailable"),
};
constexpr std::array kRemovePlan{
    gives_nothing(204),
    refuses(404, "plan_not_found"),
    refuses(503, "store_unavailable"),
};
constexpr std::array kInspectKey{
    gives(200, "KeyStanding"),
    refuses(400, "invalid_key invalid_plans"),
    refuses(404, "plan_not_found"),
    refuses(503, "store_unavailable"),
};
constexpr std::array kResetKey{
    gives_nothing(204),
    refuses(400, "invalid_key invalid_plans"),
    refuses(404, "plan_not_found"),
    refuses(503, "store_unavailable"),
};
constexpr std::array kOverrideKey{
    gives(200, "Overridden"),
    refuses(400, kBadBody),
    refuses(
        400,
        "invalid_key invalid_plans invalid_plan invalid_number invalid_flag invalid_time time_out_of_range "
        "invalid_duration"),
    refuses(404, "plan_not_found"),
    refuses(503, "store_unavailable store_full"),
};

constexpr std::array kRoutes{
    Route{"POST", "/api/v1/check", "check", on<check_limits>(), kCheck, json_body("Check")},
    Route{"POST", "/api/v1/check/batch", "checkBatch", on<check_limits_batch>(), kCheckBatch,
          json_body("CheckBatch", kBatchBytesMax)},
    Route{"POST", "/api/v1/refund", "refund", on<refund_tokens>(), kRefund, json_body("Check")},
    Route{"POST", "/api/v1/release", "releaseLease", on<release_lease>(), kReleaseLease,
          json_body("Release")},
    Route{"GET", "/api/v1/authz", "authorize", on<authorize>(), kAuthorize},
    guarded({"GET", "/admin/plans", "listPlans", on<list_plans>(), kListPlans}),
    guarded({"GET", "/admin/plans/{name}", "getPlan", on<get_plan>(), kGetPlan}),
    guarded({"PUT", "/admin/plans/{name}", "putPlan", on<put_plan>(), kPutPlan, json_body("PlanDraft")}),
    guarded({"DELETE", "/admin/plans/{name}", "removePlan", on<remove_plan>(), kRemovePlan}),
    guarded({"GET", "/admin/keys/{key}", "inspectKey", on<inspect_key>(), kInspectKey}),
    guarded({"DELETE", "/admin/keys/{key}", "resetKey", on<reset_key>(), kResetKey}),
    guarded(
        {"PUT", "/admin/keys/{key}", "overrideKey", on<override_key>(), kOverrideKey, json_body("Override")}),
};

}  // namespace

std::span<const Route> limit_routes() { return kRoutes; }

}  // namespace sluice::http
