#include "main/plan_publisher.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Plans";
constexpr std::chrono::seconds kTurn{1};

}  // namespace

PlanPublisher::PlanPublisher(const PlanBook& plans, Publish publish, Log& log, Runtime& runtime)
    : plans_{plans}, publish_{std::move(publish)}, log_{log} {
    catch_up();  // Before anybody is served.
    looks_.emplace(runtime, kTurn, [this](const std::stop_token& /*stop*/) {
        catch_up();
        return kTurn;
    });
}

void PlanPublisher::catch_up() {
    const auto current = plans_.current();
    if (current->version() == published_) {
        return;
    }
    const bool told = publish_(*current);
    if (told) {
        published_ = current->version();
    } else if (!failing_) {
        log_.write(LogLevel::Warn, kComponent, "The store did not take the plans; it is asked again");
    }
    failing_ = !told;
}

}  // namespace sluice
