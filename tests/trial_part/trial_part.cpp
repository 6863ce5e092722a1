#include "trial_part/trial_part.hpp"

#include <atomic>

#include "base/repeating.hpp"
#include "main/metric_families.hpp"

namespace sluice::test {
namespace {

constexpr std::chrono::milliseconds kPeriod{1};

struct TrialDesk : http::Desk {
    std::atomic<std::uint64_t> rounds{0};  // Of the job. Relaxed: it is a figure and nothing else.
};

http::Response show_rounds(const TrialDesk& desk, const http::Request& /*request*/) {
    return http::answer_json(R"({"rounds":)" + std::to_string(desk.rounds.load(std::memory_order_relaxed)) +
                             '}');
}

constexpr std::array kShowRounds{http::gives(200, "Rounds")};
constexpr std::array kRoutes{
    http::Route{"GET", "/api/v1/trial", "showRounds", http::on<show_rounds>(), kShowRounds},
};
std::span<const http::Route> trial_routes() { return kRoutes; }

class TrialPart final : public Part {
public:
    explicit TrialPart(Runtime& runtime)
        : job_{runtime, kPeriod, [this](const std::stop_token& /*stop*/) {
                   desk_.rounds.fetch_add(1, std::memory_order_relaxed);
                   return kPeriod;
               }} {}

    const http::Desk& desk() const override { return desk_; }
    http::AskedPart readiness() override {
        return {"trial", [](UniqueFunction<void(http::PartState)> done) { done({true, "on_trial"}); }};
    }
    void collect(MetricFamilies& families) const override {
        add_counter(families, {"sluice_trial_rounds_total", "How often the job has run."}, desk_.rounds);
    }
    std::string described() const override { return "on trial"; }
    void stop() override { job_.stop(); }

private:
    TrialDesk desk_;
    Repeating job_;  // Last: it uses all the rest.
};

Result<std::unique_ptr<Part>, std::string> open_trial(const PartWorld& world) {
    return std::unique_ptr<Part>{std::make_unique<TrialPart>(world.runtime)};
}

}  // namespace

PartPlan trial_part() { return {"trial", trial_routes, open_trial}; }

}  // namespace sluice::test
