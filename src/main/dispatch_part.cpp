#include "main/dispatch_part.hpp"

#include <array>
#include <mutex>
#include <optional>
#include <random>

#include <prometheus/metric_family.h>
#include <unistd.h>

#include "app/dispatch/dispatch_service.hpp"
#include "door/http/dispatch_desk.hpp"
#include "main/dispatch_tallies.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Sluice";

// Whom attempts are recorded under.
std::string node_name() {
    std::array<char, 256> name{};
    const bool known = ::gethostname(name.data(), name.size() - 1) == 0;
    return (known ? std::string{name.data()} : std::string{"unknown"}) + "/" + std::to_string(::getpid());
}

// How many works wait for what, as it was told last. Whoever collects figures must not wait for the store,
// whose disk may be slow.
// Thread safety: all of it.
class LastCounts {
public:
    void set(std::vector<LaneCount> counts) {
        const std::lock_guard lock{mutex_};
        counts_ = std::move(counts);
    }
    [[nodiscard]] std::vector<LaneCount> get() const {
        const std::lock_guard lock{mutex_};
        return counts_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<LaneCount> counts_;  // Guarded by mutex_.
};

// What runs where the store of slots keeps work.
struct Works {
    Works(const PartWorld& world, WorkStore& work)
        : dispatcher{{.node = node_name(), .seed = std::random_device{}()},
                     {work, world.clock, world.carriers.all, tallies, world.log, world.runtime}},
          service{{},
                  {work, world.clock, world.log, world.runtime, [this] { return dispatcher.figures(); }}} {
        count_again();
    }

    // The counts as they were when somebody last asked; they are counted again for the next.
    std::vector<LaneCount> last_counts() {
        count_again();
        return counts.get();
    }

    void count_again() {
        service.overview([this](Result<DispatchOverview, DispatchError> told) {
            if (told) {
                counts.set(std::move(told->counts));
            }
        });
    }

    DispatchTallies tallies{};
    LastCounts counts{};
    Dispatcher dispatcher;
    DispatchService service;  // Last: what it was asked for is told to all the rest.
};

class DispatchPart final : public Part {
public:
    explicit DispatchPart(const PartWorld& world) : world_{world} {
        if (WorkStore* const work = world.slots.slots->work()) {
            works_ = std::make_unique<Works>(world, *work);
        }
        using Keeping = http::DispatchDesk::Works;
        desk_.emplace(
            works_ ? std::optional{Keeping{works_->service, works_->dispatcher.permits(), world.carriers.all}}
                   : std::nullopt,
            world.clock, world.log);
    }

    const http::Desk& desk() const override { return *desk_; }
    http::AskedPart readiness() override {
        return {"dispatch", [this](UniqueFunction<void(http::PartState)> done) {
                    // Other targets go on, and what is for Kafka waits.
                    const kafka::Producer* const kafka = world_.carriers.kafka.get();
                    const bool answers = kafka == nullptr || kafka->state().up;
                    done({true, answers ? "" : "kafka_unavailable"});
                }};
    }
    void collect(std::vector<prometheus::MetricFamily>& families) const override {
        if (works_) {
            works_->tallies.collect(families, works_->dispatcher.figures(), works_->last_counts());
        }
    }
    std::string described() const override { return works_ ? "dispatch on" : "no dispatch"; }

    bool reload() override {
        if (!names_files(world_.settings.dispatch)) {
            return false;
        }
        const auto loaded = world_.carriers.webhooks->reload();
        if (loaded) {
            world_.log.write(LogLevel::Info, kComponent, "Reloaded the secrets of webhooks");
        } else {
            world_.log.write(LogLevel::Error, kComponent, loaded.error() + " The secrets in force stay");
        }
        return true;
    }

    void stop() override {
        if (works_) {
            works_->dispatcher.stop();
            works_->service.stop();
        }
        world_.carriers.all.stop();
    }

private:
    const PartWorld world_;
    std::unique_ptr<Works> works_;  // Null: the store keeps no work.
    std::optional<http::DispatchDesk> desk_;
};

}  // namespace

Result<std::unique_ptr<Part>, std::string> open_dispatch_part(const PartWorld& world) {
    return std::unique_ptr<Part>{std::make_unique<DispatchPart>(world)};
}

}  // namespace sluice
