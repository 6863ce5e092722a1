#include "main/slots_part.hpp"

#include <prometheus/metric_family.h>

#include "door/http/readiness.hpp"
#include "door/http/slot_desk.hpp"
#include "main/slot_figures.hpp"

namespace sluice {
namespace {

class SlotsPart final : public Part {
public:
    explicit SlotsPart(const PartWorld& world)
        : store_{world.slots},
          service_{{.batch_max = world.settings.batch_max, .workers = store_.workers},
                   {*store_.slots, *store_.figures, world.log, world.runtime}},
          // Where the store keeps no work, events that bring some are refused.
          desk_{service_, world.settings.default_config, world.clock, world.log,
                store_.slots->work() == nullptr ? nullptr : &world.carriers.all} {}

    const http::Desk& desk() const override { return desk_; }
    http::AskedPart readiness() override { return http::asked_part(service_); }
    void collect(std::vector<prometheus::MetricFamily>& families) const override {
        store_.figures->collect(families);
        if (const auto space = store_.space ? store_.space() : std::nullopt) {
            add_figures(families, *space);
        }
        if (store_.health_figures) {
            add_figures(families, store_.health_figures());
        }
    }
    std::string described() const override { return store_.described; }
    void stop() override { service_.stop(); }

private:
    OpenSlotStore& store_;
    SlotService service_;
    http::SlotDesk desk_;
};

}  // namespace

Result<std::unique_ptr<Part>, std::string> open_slots_part(const PartWorld& world) {
    return std::unique_ptr<Part>{std::make_unique<SlotsPart>(world)};
}

}  // namespace sluice
