#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "app/dispatch/carriers.hpp"
#include "app/dispatch/dispatcher.hpp"
#include "app/dispatch/permit_office.hpp"
#include "app/slots/slot_store.hpp"
#include "support/fake_work_store.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {

// Takes every address but those that name "forbidden" or have a user, and carries nothing.
class FakeCarrier final : public Carrier {
public:
    [[nodiscard]] Result<Route, TargetFault> route(const Target& target) const override {
        if (target.kind == TargetKind::Log) {
            return Route{};
        }
        const std::size_t scheme = target.address.find("://");
        if (scheme == std::string::npos || !target.address.starts_with("http")) {
            return Unexpected{TargetFault{"invalid_target", "The URL must begin with http:// or https://."}};
        }
        const std::string rest = target.address.substr(scheme + 3);
        const std::string host = rest.substr(0, rest.find('/'));
        if (host.find('@') != std::string::npos) {
            return Unexpected{TargetFault{"credentials_in_url", "The URL has a user."}};
        }
        if (host == "forbidden") {
            return Unexpected{TargetFault{"forbidden_address", "Calls there are not allowed."}};
        }
        return Route{host, target.address.substr(0, target.address.find('?'))};
    }
    [[nodiscard]] CallTerms terms(const Target&) const override { return {}; }
    void send(Parcel, MayWrite, Done) override {}
    void stop() override {}
};

class UncountedDispatch final : public DispatchMetrics {
public:
    void began(TargetKind, Duration) override {}
    void sent(TargetKind) override {}
    void retried(TargetKind) override {}
    void died(TargetKind) override {}
    void lost(TargetKind) override {}
    void store_failed() override {}
    void became_keeper() override {}
    void lost_keeper() override {}
};

// What stands behind the door for work: carriers of webhooks and of the log, and a store that remembers.
struct WorkWorld {
    WorkWorld() {
        carriers.add(TargetKind::Log, std::make_unique<FakeCarrier>());
        carriers.add(TargetKind::Webhook, std::make_unique<FakeCarrier>());
    }

    // Those of a dispatcher that has nothing to send.
    PermitOffice& permits() {
        if (dispatcher == nullptr) {
            runtime = make_machine_runtime();
            dispatcher =
                std::make_unique<Dispatcher>(DispatcherOptions{.node = "node"},
                                             DispatcherWorld{works, clock, carriers, metrics, log, *runtime});
        }
        return dispatcher->permits();
    }
    // What the event brought along.
    WorkOrder order(const std::string& event_id) {
        const std::lock_guard lock{mutex};
        return orders.at(event_id);
    }
    std::size_t ordered() {
        const std::lock_guard lock{mutex};
        return orders.size();
    }

    Carriers carriers;
    FakeWorkStore works;
    DispatchFigures figures;
    std::set<std::string> dispatched;  // Their works are on their way. For the test, before it asks.
    std::mutex mutex;
    std::map<std::string, WorkOrder> orders;  // Of new events. Guarded by mutex, like the next.
    std::vector<std::string> changed_by;      // Who cancelled or moved.

private:
    SystemClock clock;
    RecordingLog log;
    UncountedDispatch metrics;
    std::unique_ptr<Runtime> runtime;
    std::unique_ptr<Dispatcher> dispatcher;  // Last: it uses all the rest.
};

// Another store of slots, which also remembers the work that new events bring, and refuses to change those
// that are dispatched.
class WorkKeepingStore final : public SlotStore {
public:
    WorkKeepingStore(std::unique_ptr<SlotStore> slots, WorkWorld& world)
        : slots_{std::move(slots)}, world_{world} {}

    std::vector<SlotReply> execute(std::span<const SlotCommand> commands) override {
        std::vector<SlotReply> replies;
        for (const SlotCommand& command : commands) {
            replies.push_back(run(command));
        }
        return replies;
    }
    Result<SlotStory, SlotError> find(const EventId& event_id) override {
        auto story = slots_->find(event_id);
        if (story) {
            story->work = world_.works.find(event_id).value();
        }
        return story;
    }
    Result<void, SlotError> show_windows(const ConfigName& name, const Look& look) override {
        return slots_->show_windows(name, look);
    }
    Result<Instant, SlotError> time() override { return slots_->time(); }
    Result<ConfigVersion, SlotError> put_config(const ConfigDraft& draft) override {
        return slots_->put_config(draft);
    }
    Result<ConfigVersion, SlotError> active_config(const ConfigName& name) override {
        return slots_->active_config(name);
    }
    Result<std::vector<ConfigVersion>, SlotError> config_history(const ConfigName& name) override {
        return slots_->config_history(name);
    }
    Result<std::vector<ConfigVersion>, SlotError> active_configs() override {
        return slots_->active_configs();
    }
    void flush_config_cache() override { slots_->flush_config_cache(); }
    bool available() override { return slots_->available(); }
    WorkStore* work() override { return &world_.works; }

private:
    SlotReply run(const SlotCommand& command) {
        if (const auto* cancel = std::get_if<CancelSlot>(&command)) {
            return change(command, cancel->event_id, cancel->by);
        }
        if (const auto* move = std::get_if<MoveSlot>(&command)) {
            return change(command, move->event_id, move->by);
        }
        const std::lock_guard lock{world_.mutex};
        if (const auto* one = std::get_if<AssignSlot>(&command)) {
            SlotReply reply = without_work(command);
            remember(*one, std::get<SlotOutcome>(reply));
            return reply;
        }
        if (const auto* each = std::get_if<AssignEach>(&command)) {
            SlotReply reply = without_work(command);
            for (std::size_t i = 0; i < each->events.size(); ++i) {
                remember(each->events[i], std::get<EachOutcome>(reply)[i]);
            }
            return reply;
        }
        SlotReply reply = without_work(command);
        const auto& all = std::get<AllOutcome>(reply);
        for (std::size_t i = 0; all && i < all->size(); ++i) {
            remember(std::get<AssignAll>(command).events[i], (*all)[i]);
        }
        return reply;
    }
    SlotReply change(const SlotCommand& command, const EventId& event_id, const std::string& by) {
        {
            const std::lock_guard lock{world_.mutex};
            world_.changed_by.push_back(by);
        }
        if (world_.dispatched.contains(event_id.text())) {
            return SlotOutcome{Unexpected{SlotError{SlotFault::AlreadyDispatched, "It is on its way."}}};
        }
        return slots_->execute({&command, 1}).at(0);
    }
    // The store behind may keep none.
    SlotReply without_work(SlotCommand command) {
        if (auto* one = std::get_if<AssignSlot>(&command)) {
            one->work = nullptr;
        } else if (auto* each = std::get_if<AssignEach>(&command)) {
            strip(each->events);
        } else if (auto* all = std::get_if<AssignAll>(&command)) {
            strip(all->events);
        }
        return slots_->execute({&command, 1}).at(0);
    }
    static void strip(std::vector<AssignSlot>& events) {
        for (AssignSlot& event : events) {
            event.work = nullptr;
        }
    }
    void remember(const AssignSlot& event, const SlotOutcome& outcome) {
        if (outcome && !outcome->repeated && event.work != nullptr) {
            world_.orders.emplace(event.event_id.text(), *event.work);
        }
    }

    const std::unique_ptr<SlotStore> slots_;
    WorkWorld& world_;
};

}  // namespace sluice::test
