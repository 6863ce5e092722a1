#include "main/plan_publisher.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Plans";

}  // namespace

PlanPublisher::PlanPublisher(const PlanBook& plans, Publish publish, Log& log)
    : plans_{plans}, publish_{std::move(publish)}, log_{log} {
    catch_up();  // Before anybody is served.
    thread_ = std::jthread{[this](const std::stop_token& stop) { work(stop); }};
}

PlanPublisher::~PlanPublisher() = default;

void PlanPublisher::work(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (!stop.stop_requested()) {
        stopped_.wait_for(lock, stop, std::chrono::seconds{1}, [] { return false; });
        if (!stop.stop_requested()) {
            catch_up();
        }
    }
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
