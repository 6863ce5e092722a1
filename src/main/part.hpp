#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/runtime.hpp"
#include "base/time.hpp"
#include "door/http/routes.hpp"
#include "door/http/server_desk.hpp"
#include "main/open_carriers.hpp"
#include "main/settings.hpp"
#include "main/slot_store_choice.hpp"
#include "store/postgres/client/server.hpp"

namespace prometheus {
struct MetricFamily;
}

namespace sluice {

// What the parts of a daemon share. It outlives them.
struct PartWorld {
    const Settings& settings;
    const Clock& clock;
    Runtime& runtime;
    Log& log;
    const std::shared_ptr<postgres::Server>& postgres;  // Null: the settings name none.
    OpenSlotStore& slots;                               // And the work that slots bring along.
    OpenCarriers& carriers;
};

// A capability of the daemon, opened and at work: slots, limits. It owns its stores and its service.
// Thread safety: readiness and collect may be asked for by any thread; the rest belongs to the main thread.
class Part {
public:
    virtual ~Part() = default;

    // What its routes work with; as long as the part lives.
    [[nodiscard]] virtual const http::Desk& desk() const = 0;

    // How /readyz asks for it.
    virtual http::AskedPart readiness() = 0;

    // Appends every family of figures that it has.
    virtual void collect(std::vector<prometheus::MetricFamily>& families) const = 0;

    // For the line that says the server is ready: which store it has. No password.
    [[nodiscard]] virtual std::string described() const = 0;

    // Reads again what it has in files. False: it has none.
    virtual bool reload() { return false; }

    // Refuses new work and returns when all that was accepted is done. Nothing comes in any more.
    virtual void stop() = 0;
};

// A part before it is opened: as the daemon and the build know it.
struct PartPlan {
    std::string_view name;  // Of the fragment of openapi.json: <name>_routes.json.
    std::span<const http::Route> (*routes)();
    Result<std::unique_ptr<Part>, std::string> (*open)(const PartWorld& world);  // Fails with one sentence.
};

}  // namespace sluice
