#pragma once

#include <span>

#include "app/dispatch/carriers.hpp"
#include "app/dispatch/dispatch_service.hpp"
#include "door/http/route.hpp"

namespace sluice::http {

// What the routes of dispatch work with. All of it outlives the server.
struct DispatchDesk : Desk {
    DispatchDesk(DispatchService* service, const Carriers* carrying, const Clock& time, Log& lines)
        : dispatch{service}, carriers{carrying}, clock{time}, log{lines} {}

    DispatchService* dispatch;  // Null: the store keeps no work, and every route is refused (not_supported).
    const Carriers* carriers;   // Null as well then.
    const Clock& clock;
    Log& log;
};

std::span<const Route> dispatch_routes();

Answer list_work(const DispatchDesk& desk, const Request& request);
Answer show_dispatch(const DispatchDesk& desk, const Request& request);
Answer replay_work(const DispatchDesk& desk, const Request& request);
Answer pause_dispatch(const DispatchDesk& desk, const Request& request);
Answer resume_dispatch(const DispatchDesk& desk, const Request& request);
Answer put_dispatch_rate(const DispatchDesk& desk, const Request& request);

}  // namespace sluice::http
