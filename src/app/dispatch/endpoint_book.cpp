#include "app/dispatch/endpoint_book.hpp"

#include <algorithm>

namespace sluice {

SteadyTime EndpointBook::next(const std::string& endpoint) const {
    const auto found = guards_.find(endpoint);
    return found == guards_.end() ? SteadyTime::min() : found->second.next();
}

void EndpointBook::begin(const std::string& endpoint, std::size_t most, SteadyTime now) {
    if (endpoint.empty()) {
        return;
    }
    if (guards_.size() >= kGuardsMax && !guards_.contains(endpoint)) {
        forget_some(now);
    }
    guards_.try_emplace(endpoint, most).first->second.begin();
}

EndpointBook::Change EndpointBook::succeeded(const std::string& endpoint) {
    EndpointGuard* const guard = find(endpoint);
    if (guard == nullptr) {
        return Change::None;
    }
    const bool was_failing = guard->is_failing();
    guard->succeeded();
    return was_failing ? Change::IsBack : Change::None;
}

EndpointBook::Change EndpointBook::failed(const std::string& endpoint, SteadyTime now) {
    EndpointGuard* const guard = find(endpoint);
    if (guard == nullptr) {
        return Change::None;
    }
    const bool was_failing = guard->is_failing();
    guard->failed(now);
    return !was_failing && guard->is_failing() ? Change::BeganToFail : Change::None;
}

void EndpointBook::asked_to_wait(const std::string& endpoint, SteadyTime until) {
    if (EndpointGuard* const guard = find(endpoint)) {
        guard->asked_to_wait(until);
    }
}

void EndpointBook::withdrawn(const std::string& endpoint) {
    if (EndpointGuard* const guard = find(endpoint)) {
        guard->withdrawn();
    }
}

std::size_t EndpointBook::failing() const {
    return static_cast<std::size_t>(std::count_if(
        guards_.begin(), guards_.end(), [](const auto& entry) { return entry.second.is_failing(); }));
}

EndpointGuard* EndpointBook::find(const std::string& endpoint) {
    const auto found = guards_.find(endpoint);
    return found == guards_.end() ? nullptr : &found->second;
}

// Calls under way are bounded elsewhere, so there is room afterwards.
void EndpointBook::forget_some(SteadyTime now) {
    std::erase_if(guards_, [now](const auto& entry) { return entry.second.is_idle(now); });
    if (guards_.size() >= kGuardsMax) {
        std::erase_if(guards_, [](const auto& entry) { return entry.second.under_way() == 0; });
    }
}

}  // namespace sluice
