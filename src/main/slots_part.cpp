#include "main/slots_part.hpp"

#include <prometheus/metric_family.h>

#include "door/http/readiness.hpp"
#include "door/http/slot_desk.hpp"
#include "main/slot_figures.hpp"
#include "main/slot_store_choice.hpp"

namespace sluice {
namespace {

class SlotsPart final : public Part {
public:
    SlotsPart(const PartWorld& world, std::unique_ptr<SlotFigures> figures, OpenSlotStore store)
        : figures_{std::move(figures)},
          store_{std::move(store)},
          service_{{.batch_max = world.settings.batch_max, .workers = store_.workers},
                   {*store_.slots, *figures_, world.log, world.runtime}},
          desk_{service_, world.settings.default_config, world.clock, world.log} {}

    const http::Desk& desk() const override { return desk_; }
    http::AskedPart readiness() override { return http::asked_part(service_); }
    void collect(std::vector<prometheus::MetricFamily>& families) const override {
        figures_->collect(families);
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
    std::unique_ptr<SlotFigures> figures_;  // The store has it from the start.
    OpenSlotStore store_;
    SlotService service_;
    http::SlotDesk desk_;
};

}  // namespace

Result<std::unique_ptr<Part>, std::string> open_slots_part(const PartWorld& world) {
    auto figures = std::make_unique<SlotFigures>();
    auto store = open_slot_store(world.settings, {world.clock, *figures, world.log}, world.postgres);
    if (!store) {
        return Unexpected{store.error()};
    }
    return std::unique_ptr<Part>{std::make_unique<SlotsPart>(world, std::move(figures), std::move(*store))};
}

}  // namespace sluice
