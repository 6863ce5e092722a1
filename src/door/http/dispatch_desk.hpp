#pragma once

#include <optional>
#include <span>

#include "app/dispatch/carriers.hpp"
#include "app/dispatch/dispatch_service.hpp"
#include "app/dispatch/permit_office.hpp"
#include "door/http/route.hpp"

namespace sluice::http {

// What the routes of dispatch work with. All of it outlives the server.
struct DispatchDesk : Desk {
    // What dispatch is made of, where the store keeps work.
    struct Works {
        DispatchService& service;
        PermitOffice& permits;
        const Carriers& carriers;
    };

    // Without works every route is refused (not_supported).
    DispatchDesk(std::optional<Works> works, const Clock& time, Log& lines)
        : dispatch{works ? &works->service : nullptr},
          permits{works ? &works->permits : nullptr},
          carriers{works ? &works->carriers : nullptr},
          clock{time},
          log{lines} {}

    DispatchService* dispatch;  // Null without works, like the next two.
    PermitOffice* permits;
    const Carriers* carriers;
    const Clock& clock;
    Log& log;
};

std::span<const Route> dispatch_routes();

Answer list_work(const DispatchDesk& desk, const Request& request);
Answer show_dispatch(const DispatchDesk& desk, const Request& request);
Answer replay_work(const DispatchDesk& desk, const Request& request);
Answer pause_dispatch(const DispatchDesk& desk, const Request& request);
Answer resume_dispatch(const DispatchDesk& desk, const Request& request);
Answer ask_permit(const DispatchDesk& desk, const Request& request);
Answer end_permit(const DispatchDesk& desk, const Request& request);
Answer put_dispatch_rate(const DispatchDesk& desk, const Request& request);

}  // namespace sluice::http
