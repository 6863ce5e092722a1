#include "app/slots/slot_ledger.hpp"

#include <atomic>
#include <mutex>

#include "app/dispatch/work_ledger.hpp"
#include "app/dispatch/work_lists.hpp"
#include "app/slots/command_runner.hpp"
#include "app/slots/ledger_state.hpp"
#include "app/slots/recut.hpp"
#include "app/slots/slot_errors.hpp"
#include "base/iso8601.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "SlotLedger";
constexpr Duration kRecoveryPause{200};

class SlotLedger final : public SlotStore, private LedgerAccess {
public:
    SlotLedger(std::unique_ptr<SlotTables> tables, LedgerOptions options, LedgerWorld world)
        : tables_{std::move(tables)},
          bodies_{options.strict ? Bodies::MustAgree : Bodies::FirstWins},
          retention_{options.retention},
          world_{world},
          state_{*tables_, ConfigCache{options.config_cache_ttl, world.clock, world.metrics, world.log},
                 Random{options.seed}} {
        const std::lock_guard lock{mutex_};
        if (tables_->work() != nullptr) {
            work_ = make_work_ledger(*this, *tables_->work());
        }
        start_over();
    }

    std::vector<SlotReply> execute(std::span<const SlotCommand> commands) override {
        NewsAtEnd news{news_};
        const std::lock_guard lock{mutex_};
        if (!recovered()) {
            return refuse_all(commands);
        }
        state_.forget_if_large();
        const StoreRoom room = look_for_room();
        if (room != StoreRoom::None && !forget_old()) {
            return refuse_all(commands);
        }
        auto group = CommandGroup::read(commands, *tables_, state_.book);
        if (!group) {
            fail(group.error());
            return refuse_all(commands);
        }
        CommandRunner runner{state_, *group, {bodies_, room, world_.clock.now()}};
        std::vector<SlotReply> replies;
        replies.reserve(commands.size());
        for (const SlotCommand& command : commands) {
            replies.push_back(runner.run(command));
        }
        return commit(*group, news) ? std::move(replies) : refuse_all(commands);
    }

    Result<SlotStory, SlotError> find(const EventId& event_id) override {
        const std::lock_guard lock{mutex_};
        const auto slot = stored(event_id);
        if (!slot) {
            return Unexpected{slot.error()};
        }
        auto past = tables_->past(event_id);
        if (!past) {
            return Unexpected{store_unavailable()};
        }
        // Others may be left of an event of the same name that was forgotten before its history was.
        std::erase_if(*past, [&slot](const Slot& one) { return one.revision >= slot->revision; });
        SlotStory story{*slot, state_.book.version(slot->config_id).terms.name, std::move(*past)};
        if (slot->work != WorkMark::None && tables_->work() != nullptr) {
            auto work = find_story(event_id, *tables_->work(), state_.works.holds());
            if (!work) {
                return Unexpected{store_unavailable()};
            }
            story.work = std::move(*work);
        }
        return story;
    }

    Result<void, SlotError> show_windows(const ConfigName& name, const Look& look) override {
        const std::lock_guard lock{mutex_};
        // Counts that were not stored say nothing.
        if (!recovered()) {
            return Unexpected{store_unavailable()};
        }
        const ConfigRef config = state_.active(name);
        if (config == nullptr) {
            return Unexpected{unknown_config(name)};
        }
        state_.forget_if_large();
        look(*config, state_.windows_of(state_.book.pool(config->terms.pool)));
        if (failed()) {
            return Unexpected{store_unavailable()};
        }
        return {};
    }

    Result<Instant, SlotError> time() override { return world_.clock.now(); }

    Result<ConfigVersion, SlotError> put_config(const ConfigDraft& draft) override {
        NewsAtEnd news{news_};
        const std::lock_guard lock{mutex_};
        if (!recovered()) {
            return Unexpected{store_unavailable()};
        }
        if (look_for_room() == StoreRoom::None) {
            return Unexpected{store_full()};
        }
        auto proposal = state_.book.propose(draft, world_.clock.now());
        if (!proposal) {
            return Unexpected{std::move(proposal).error()};
        }
        SlotChanges changes;
        changes.configs.push_back(proposal->version);
        if (proposal->replaced) {
            changes.configs.push_back(*proposal->replaced);
        }
        if (proposal->new_pool) {
            changes.pools.push_back(*proposal->new_pool);
        }
        if (proposal->recut_pool) {
            const Recut recut{*proposal->recut_pool, *proposal->new_pool, world_.clock.now(), state_.horizon};
            if (auto refused = count_anew(recut, *tables_, state_.book, changes)) {
                return Unexpected{std::move(*refused)};
            }
        }
        if (!commit(changes)) {
            return Unexpected{store_unavailable()};
        }
        state_.book.accept(*proposal);
        state_.works.note_configs();
        news.note(true);
        if (proposal->recut_pool) {
            state_.windows.erase(proposal->recut_pool->id);
        }
        if (draft.spread == Spread::Stratified) {  // Its windows may be the first of the pool to have cells.
            state_.windows.erase(state_.book.pool(draft.pool).id);
        }
        state_.cache.put(state_.book.active(draft.name));
        tell(*proposal);
        return proposal->version;
    }

    Result<ConfigVersion, SlotError> active_config(const ConfigName& name) override {
        const std::lock_guard lock{mutex_};
        if (!book_loaded_) {
            return Unexpected{store_unavailable()};
        }
        const ConfigRef config = state_.active(name);
        if (config == nullptr) {
            return Unexpected{unknown_config(name)};
        }
        return *config;
    }

    Result<std::vector<ConfigVersion>, SlotError> config_history(const ConfigName& name) override {
        const std::lock_guard lock{mutex_};
        if (!book_loaded_) {
            return Unexpected{store_unavailable()};
        }
        auto versions = state_.book.history(name);
        if (versions.empty()) {
            return Unexpected{unknown_config(name)};
        }
        return versions;
    }

    Result<std::vector<ConfigVersion>, SlotError> active_configs() override {
        const std::lock_guard lock{mutex_};
        if (!book_loaded_) {
            return Unexpected{store_unavailable()};
        }
        return state_.book.all_active();
    }

    void flush_config_cache() override {
        const std::lock_guard lock{mutex_};
        state_.cache.flush();
    }

    bool available() override {
        if (!healthy_) {
            const std::lock_guard lock{mutex_};
            return recovered();
        }
        return true;
    }

    bool full() override { return tables_->room() != StoreRoom::Enough; }

    WorkStore* work() override { return work_.get(); }

private:
    std::unique_lock<std::mutex> lock() override { return std::unique_lock{mutex_}; }
    WorkNews& news() override { return news_; }
    Instant now() const override { return world_.clock.now(); }
    LedgerState& state() override { return state_; }
    StoreRoom room() override { return look_for_room(); }
    void stop(const StoreError& error) override {
        if (healthy_) {
            fail(error);
        }
    }
    Result<bool, StoreError> commit(const SlotChanges& changes) override {
        if (const auto written = tables_->commit(changes); !written) {
            fail(written.error());
            return Unexpected{written.error()};
        }
        return !changes.work.empty() && state_.works.note(changes.work);
    }

    // What may be written now. Tells the log when that changes.
    StoreRoom look_for_room() {
        const auto space = tables_->space();
        const StoreRoom room = space ? space->room() : StoreRoom::Enough;
        if (room == room_) {
            return room;
        }
        room_ = room;
        if (room == StoreRoom::Enough) {
            world_.log.write(LogLevel::Info, kComponent, "The disk has room again, assigning goes on");
            return room;
        }
        world_.log.write(LogLevel::Error, kComponent,
                         "The disk is nearly full, " +
                             std::string{room == StoreRoom::None ? "nothing is written" : "assigning stops"} +
                             ": " + std::to_string(space->free) + " bytes are free, the reserve is " +
                             std::to_string(space->reserve) + ", and " + std::to_string(space->owed) +
                             " are still to be written for what is stored");
        return room;
    }

    // Moves the horizon if that is due. False: the store failed.
    bool forget_old() {
        if (!retention_) {
            return true;
        }
        const auto changes = move_horizon(state_.book, state_.horizon, world_.clock.now(), *retention_);
        if (!changes) {
            return true;
        }
        if (!commit(*changes)) {
            return false;
        }
        state_.horizon = *changes->horizon;
        state_.windows.clear();
        world_.log.write(LogLevel::Info, kComponent,
                         "Forgot the slots before " + format_instant(state_.horizon));
        return true;
    }

    bool commit(CommandGroup& group, NewsAtEnd& news) {
        if (failed()) {
            return false;
        }
        const SlotChanges changes = group.take_changes(
            [this](PoolId pool, WindowIndex window) { return state_.windows.at(pool).content(window); });
        if (changes.empty()) {
            return true;
        }
        const auto is_news = commit(changes);
        news.note(is_news && *is_news);
        return is_news.has_value();
    }

    Result<Slot, SlotError> stored(const EventId& event_id) {
        const std::string_view id = event_id.text();
        auto found = tables_->find({&id, 1});
        if (!found || !book_loaded_) {
            return Unexpected{store_unavailable()};
        }
        if (!found->front()) {
            return Unexpected{unknown_event(event_id)};
        }
        if (!state_.book.knows(found->front()->config_id)) {
            return Unexpected{store_unavailable()};
        }
        return std::move(*found->front());
    }

    // True when counts could not be read; the ledger has then stopped.
    bool failed() {
        const auto failure = state_.failure();
        if (failure && healthy_) {
            fail(*failure);
        }
        return failure.has_value();
    }

    // From here on nothing is assigned until the tables were read anew.
    void fail(const StoreError& error) {
        world_.log.write(LogLevel::Error, kComponent, "Store failed, assigning stops: " + error.what);
        healthy_ = false;
        next_attempt_ = world_.clock.now() + kRecoveryPause;
    }

    // True when the ledger may assign, after an attempt to recover if one is due.
    bool recovered() override {
        if (healthy_) {
            return true;
        }
        const Instant now = world_.clock.now();
        // The second half holds when the clock stepped back: no attempt is further away than one pause.
        if (now < next_attempt_ && next_attempt_ - now <= kRecoveryPause) {
            return false;
        }
        next_attempt_ = now + kRecoveryPause;
        if (const auto reopened = tables_->reopen(); !reopened) {
            world_.log.write(LogLevel::Warn, kComponent,
                             "Store does not reopen yet: " + reopened.error().what);
            return false;
        }
        start_over();
        if (healthy_) {
            world_.log.write(LogLevel::Info, kComponent, "Store recovered, assigning goes on");
        }
        return healthy_;
    }

    void start_over() {
        state_.windows.clear();
        state_.unreadable_work.reset();
        state_.cache.flush();
        if (tables_->work() != nullptr) {
            if (const auto works = state_.works.load(*tables_->work()); !works) {
                fail(works.error());
                return;
            }
        }
        const auto loaded = tables_->load_configs();
        if (!loaded) {
            fail(loaded.error());
            return;
        }
        state_.book = ConfigBook{*loaded};
        state_.horizon = loaded->horizon;
        book_loaded_ = true;
        healthy_ = true;
    }

    static std::vector<SlotReply> refuse_all(std::span<const SlotCommand> commands) {
        std::vector<SlotReply> replies;
        replies.reserve(commands.size());
        for (const SlotCommand& command : commands) {
            replies.push_back(refuse(command, store_unavailable()));
        }
        return replies;
    }

    void tell(const ConfigBook::Proposal& proposal) const {
        const std::string before =
            proposal.replaced ? std::to_string(proposal.replaced->terms.max_per_window) : "none";
        world_.log.write(LogLevel::Info, "RateLimitConfigRepository",
                         "Config updated: " + proposal.version.terms.name.text() + " maxPerWindow=" + before +
                             "->" + std::to_string(proposal.version.terms.max_per_window));
    }

    const std::unique_ptr<SlotTables> tables_;
    const Bodies bodies_;
    const std::optional<Duration> retention_;
    const LedgerWorld world_;
    WorkNews news_;
    std::unique_ptr<WorkStore> work_;  // Null: the tables keep none.
    // Written under mutex_; read without it by available(), where an old value only delays the answer.
    std::atomic<bool> healthy_ = false;
    std::mutex mutex_;  // Guards everything below.
    LedgerState state_;
    bool book_loaded_ = false;
    StoreRoom room_ = StoreRoom::Enough;  // When it was last looked at.
    Instant next_attempt_{};
};

}  // namespace

std::unique_ptr<SlotStore> make_slot_ledger(std::unique_ptr<SlotTables> tables, LedgerOptions options,
                                            LedgerWorld world) {
    return std::make_unique<SlotLedger>(std::move(tables), options, world);
}

}  // namespace sluice
