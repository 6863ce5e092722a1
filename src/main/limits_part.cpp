#include "main/limits_part.hpp"

#include <prometheus/metric_family.h>

#include "app/limits/limit_servers.hpp"
#include "app/limits/shared_plans.hpp"
#include "door/http/limit_desk.hpp"
#include "door/http/readiness.hpp"
#include "files/plans_file.hpp"
#include "main/limit_figures.hpp"
#include "main/limit_store_choice.hpp"
#include "main/plan_publisher.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Sluice";

LimitServiceOptions service_options(const Settings& settings, StoreCalls calls) {
    LimitServiceOptions options;
    options.calls = calls;
    options.deadline = settings.limits.deadline;
    options.node.denials.longest = settings.limits.deny_cache;
    options.node.blocks.lease_time = settings.limits.lease_time;
    options.policy.open = {settings.limits.fail_open_time, settings.limits.fail_open_tokens};
    return options;
}

class LimitsPart final : public Part {
public:
    explicit LimitsPart(const PartWorld& world) : world_{world} {}

    Result<void, std::string> open() {
        if (!world_.settings.plans.empty()) {
            if (const auto loaded = load_plans_file(world_.settings.plans, plans_); !loaded) {
                return Unexpected{loaded.error()};
            }
        }
        auto chosen =
            choose_limit_store(world_.settings, {world_.log, servers_, world_.runtime, world_.postgres});
        if (!chosen) {
            return Unexpected{chosen.error()};
        }
        store_ = std::move(*chosen);
        if (store_.shelf != nullptr) {
            shared_plans_ = std::make_unique<SharedPlans>(plans_, *store_.shelf, world_.log, world_.runtime);
        }
        service_ =
            std::make_unique<LimitService>(service_options(world_.settings, store_.calls),
                                           LimitServiceWorld{*store_.store, *store_.local, plans_, figures_,
                                                             servers_, world_.runtime, shared_plans_.get()});
        if (store_.publish) {
            publisher_ = std::make_unique<PlanPublisher>(plans_, store_.publish, world_.log, world_.runtime);
        }
        desk_ = std::make_unique<http::LimitDesk>(*service_, world_.clock, world_.log);
        return {};
    }

    const http::Desk& desk() const override { return *desk_; }
    http::AskedPart readiness() override { return http::asked_part(*service_); }
    void collect(std::vector<prometheus::MetricFamily>& families) const override {
        figures_.collect(families, *plans_.current(),
                         store_.figures ? std::optional{store_.figures()} : std::nullopt);
    }
    std::string described() const override { return store_.described; }

    bool reload() override {
        const std::string& file = world_.settings.plans;
        if (file.empty()) {
            return false;
        }
        const auto loaded = load_plans_file(file, plans_);
        if (loaded) {
            world_.log.write(LogLevel::Info, kComponent,
                             "Reloaded the plans from " + file + ": " +
                                 std::to_string(plans_.current()->all().size()) + " in force");
        } else {
            plans_.refuse_file(loaded.error());
            world_.log.write(LogLevel::Error, kComponent, loaded.error() + " The plans in force stay");
        }
        return true;
    }

    void stop() override { service_->stop(); }

private:
    const PartWorld world_;
    LimitFigures figures_;
    PlanBook plans_;
    LimitServers servers_{world_.log, figures_};
    ChosenLimitStore store_;
    std::unique_ptr<SharedPlans> shared_plans_;
    std::unique_ptr<PlanPublisher> publisher_;
    std::unique_ptr<LimitService> service_;
    std::unique_ptr<http::LimitDesk> desk_;
};

}  // namespace

Result<std::unique_ptr<Part>, std::string> open_limits_part(const PartWorld& world) {
    auto part = std::make_unique<LimitsPart>(world);
    if (const auto opened = part->open(); !opened) {
        return Unexpected{opened.error()};
    }
    return std::unique_ptr<Part>{std::move(part)};
}

}  // namespace sluice
