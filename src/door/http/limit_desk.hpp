#pragma once

#include <span>

#include "app/limits/limit_service.hpp"
#include "door/http/route.hpp"

namespace sluice::http {

// What the routes of limits work with. All of it outlives the server.
struct LimitDesk : Desk {
    LimitDesk(LimitService& service, const Clock& time, Log& lines)
        : limits{service}, clock{time}, log{lines} {}

    LimitService& limits;
    const Clock& clock;
    Log& log;
};

std::span<const Route> limit_routes();

Answer check_limits(const LimitDesk& desk, const Request& request);
Answer check_limits_batch(const LimitDesk& desk, const Request& request);
Answer refund_tokens(const LimitDesk& desk, const Request& request);
Answer release_lease(const LimitDesk& desk, const Request& request);
Answer authorize(const LimitDesk& desk, const Request& request);

Response list_plans(const LimitDesk& desk, const Request& request);
Response get_plan(const LimitDesk& desk, const Request& request);
Answer put_plan(const LimitDesk& desk, const Request& request);
Answer remove_plan(const LimitDesk& desk, const Request& request);
Answer inspect_key(const LimitDesk& desk, const Request& request);
Answer reset_key(const LimitDesk& desk, const Request& request);
Answer override_key(const LimitDesk& desk, const Request& request);

}  // namespace sluice::http
