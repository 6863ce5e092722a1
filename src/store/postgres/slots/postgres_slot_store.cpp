#include "store/postgres/slots/postgres_slot_store.hpp"

#include <atomic>
#include <charconv>
#include <semaphore>

#include "app/slots/slot_errors.hpp"
#include "base/iso8601.hpp"
#include "store/postgres/client/connection_share.hpp"
#include "store/postgres/client/notification_listener.hpp"
#include "store/postgres/client/server_clock.hpp"
#include "store/postgres/client/server_lives.hpp"
#include "store/postgres/slots/batch_assigner.hpp"
#include "store/postgres/slots/function_assigner.hpp"
#include "store/postgres/slots/housekeeper.hpp"
#include "store/postgres/slots/node_news.hpp"
#include "store/postgres/slots/slot_changer.hpp"
#include "store/postgres/slots/slot_finder.hpp"
#include "store/postgres/slots/store_trouble.hpp"
#include "store/postgres/slots/window_counts_reader.hpp"

namespace sluice {
namespace {

using namespace postgres;
using std::chrono::milliseconds;

constexpr std::string_view kConfigComponent = "RateLimitConfigRepository";
constexpr milliseconds kPatience{2000};
// Each of the four workers may hold one while one of them reads counters on another.
constexpr std::size_t kConnectionsLeast = 5;
// A change that is tried keeps everybody out for up to 50 ms: in between they go on.
constexpr Patience kChangePatience{milliseconds{5000}, milliseconds{75}};
// Nobody has asked for so long: time to look whether all is as believed.
constexpr milliseconds kQuiet{1000};
// Changes are made by the workers that answer queries: so many of them may wait that long, so that others go
// on.
constexpr std::ptrdiff_t kLongWaitsMax = 2;
constexpr Patience kShortPatience{milliseconds{500}, milliseconds{75}};

constexpr Statement kConfigHistory{"config_history",
                                   "select " SLUICE_CONFIG_COLUMNS
                                   " from rl_event_wndw_config c where c.wndw_config_nm = $1"
                                   " order by c.config_no desc"};
constexpr Statement kAllActive{"all_active", "select " SLUICE_CONFIG_COLUMNS
                                             " from rl_event_wndw_config c where c.act_in = 1"
                                             " order by c.wndw_config_nm collate \"C\""};
constexpr Statement kPutConfig{
    "put_config", "select " SLUICE_CONFIG_COLUMNS
                  ", put.replaced_cap"
                  " from sluice.put_config($1, $2, $3, $4, $5, $6, $7, sluice.from_ms($8), $9, $10, $11, $12,"
                  " $13, $14) put,"
                  " lateral (select (put.version).*) c"};
constexpr Statement kFlush{"flush", "select pg_notify('sluice', 'flush ' || $1::bigint)"};

class Store final : public PostgresSlotStore {
public:
    Store(std::shared_ptr<Server> server, const PostgresSlotOptions& options, LedgerWorld world,
          std::unique_ptr<SharedWorkStore> works)
        : options_{options},
          world_{world},
          bodies_{options.ledger.strict ? Bodies::MustAgree : Bodies::FirstWins},
          node_{server->address().node},
          server_{std::move(server)},
          pool_{server_->pool(), {.least = kConnectionsLeast}},
          caller_{pool_, world.log, kStoreComponent},
          configs_{pool_,
                   ConfigCache{options.ledger.config_cache_ttl, world.clock, world.metrics, world.log}},
          source_of_{counts_reader(pool_)},
          cells_of_{cells_reader(pool_)},
          clock_{pool_, world.clock},
          mirror_{source_of_},
          provisioner_{pool_, world.log, server_->runtime()},
          batches_{{pool_, configs_, clock_, mirror_, provisioner_, held_, world, source_of_, cells_of_},
                   bodies_,
                   options.ledger.seed},
          functions_{pool_, configs_, held_, world, bodies_},
          changer_{caller_, configs_, mirror_, world},
          housekeeper_{pool_, options.retention, world.log, server_->runtime()},
          health_{world.clock, world.log},
          works_{std::move(works)},
          listener_{server_->address(),
                    world.log,
                    {[this](const std::string& said) { heed(said); },
                     [this] {
                         forget_all();
                         bell_.ring(Instant{});
                         if (works_) {
                             works_->forget_all();
                         }
                     },
                     [this](Connection& connection) { return look_around(connection); }}} {}

    std::vector<SlotReply> execute(std::span<const SlotCommand> commands) override {
        std::vector<SlotReply> replies;
        replies.reserve(commands.size());
        while (replies.size() < commands.size()) {
            const auto rest = commands.subspan(replies.size());
            if (const std::size_t singles = leading_singles(rest); singles > 0) {
                assign_singles(rest.first(singles), replies);
            } else {
                replies.push_back(std::visit([this](const auto& one) { return run(one); }, rest.front()));
            }
        }
        tell_of(replies);
        return replies;
    }

    Result<SlotStory, SlotError> find(const EventId& event_id) override {
        return find_slot(caller_, event_id);
    }

    Result<void, SlotError> show_windows(const ConfigName& name, const Look& look) override {
        const auto config = active(name);
        if (!config) {
            return Unexpected{config.error()};
        }
        const ConfigDraft& terms = (*config)->terms;
        PoolWindows counts{source_of_(terms.pool, terms.window_size),
                           cells_of_(terms.pool, terms.window_size)};
        look(**config, counts);
        if (counts.failure()) {
            return Unexpected{store_unavailable()};
        }
        return {};
    }

    Result<Instant, SlotError> time() override {
        const auto now = clock_.now();
        if (!now) {
            return Unexpected{unavailable(caller_, now.error())};
        }
        return *now;
    }

    Result<ConfigVersion, SlotError> put_config(const ConfigDraft& draft) override {
        const Parameters parameters = terms_of(draft);
        const bool may_wait = long_waits_.try_acquire();
        const auto rows = caller_.insist(kPutConfig, parameters, may_wait ? kChangePatience : kShortPatience);
        if (may_wait) {
            long_waits_.release();
        }
        if (!rows) {
            return Unexpected{config_refusal(draft, rows.error())};
        }
        auto version = rows->empty() ? std::nullopt : read_config(*rows, 0);
        if (!version) {
            return Unexpected{store_unavailable()};
        }
        configs_.put(*version);
        put_last_ = version->id;
        bell_.ring(Instant{});
        if (works_) {
            works_->note_configs();
        }
        const std::string before =
            rows->is_null(0, kConfigColumns) ? "none" : std::string{rows->text(0, kConfigColumns)};
        world_.log.write(LogLevel::Info, kConfigComponent,
                         "Config updated: " + draft.name.text() + " maxPerWindow=" + before + "->" +
                             std::to_string(draft.max_per_window));
        return std::move(*version);
    }

    Result<ConfigVersion, SlotError> active_config(const ConfigName& name) override {
        const auto config = active(name);
        if (!config) {
            return Unexpected{config.error()};
        }
        return **config;
    }

    Result<std::vector<ConfigVersion>, SlotError> config_history(const ConfigName& name) override {
        auto versions = config_versions(kConfigHistory, Parameters{}.add(name.text()));
        if (versions && versions->empty()) {
            return Unexpected{unknown_config(name)};
        }
        return versions;
    }

    Result<std::vector<ConfigVersion>, SlotError> active_configs() override {
        return config_versions(kAllActive, Parameters{});
    }

    void flush_config_cache() override {
        forget_all();
        if (const auto told = caller_.call(kFlush, Parameters{}.add(node_)); !told) {
            caller_.tell(told.error());
        }
    }

    bool available() override { return server_->pool().ready() && health_.writable(); }

    std::string_view concern() override {
        return server_->lives().figures().stray_lately ? "stray_server" : health_.concern();
    }

    WorkStore* work() override { return works_.get(); }

    HealthFigures health_figures() const override { return health_.figures(); }

    void on_due(DueBell::Call call) override { bell_.answer_with(std::move(call)); }

    // Waits for the first connections.
    Result<void, Failure> reach() {
        const auto lease = caller_.take_connection();
        if (!lease || !listener_.wait_until_listening(kPatience)) {
            return Unexpected{lease ? Failure{kLost, "no news can be listened to"} : lease.error()};
        }
        return {};
    }

private:
    [[nodiscard]] Parameters terms_of(const ConfigDraft& draft) const {
        Parameters parameters;
        parameters.add(draft.name.text())
            .add(std::int64_t{draft.max_per_window})
            .add(draft.window_size.count())
            .add(format_duration(draft.window_size))
            .add(draft.pool.text());
        draft.max_lookahead ? parameters.add(*draft.max_lookahead) : parameters.add_null();
        parameters.add(std::int64_t{options_.windows_in_chunk})
            .add(to_ms(world_.clock.now()))
            .add(static_cast<std::int64_t>(draft.spread))
            .add(static_cast<std::int64_t>(draft.past));
        add_dispatch(parameters, draft.dispatch);
        return parameters;
    }

    // This node need not wait until the server tells it.
    void tell_of(std::span<const SlotReply> replies) {
        const Instant earliest = earliest_due(replies);
        if (earliest != Instant::max()) {
            bell_.ring(earliest);
            if (works_) {
                works_->note_added(earliest);
            }
        }
    }

    Result<std::vector<ConfigVersion>, SlotError> config_versions(const Statement& statement,
                                                                  const Parameters& parameters) {
        const auto rows = caller_.call(statement, parameters);
        if (!rows) {
            return Unexpected{unavailable(caller_, rows.error())};
        }
        std::vector<ConfigVersion> versions;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            if (auto version = read_config(*rows, i)) {
                versions.push_back(std::move(*version));
            }
        }
        return versions;
    }

    // How many commands at the front ask for one slot each.
    static std::size_t leading_singles(std::span<const SlotCommand> commands) {
        const auto end = std::ranges::find_if(commands, [](const SlotCommand& command) {
            return !std::holds_alternative<AssignSlot>(command);
        });
        return static_cast<std::size_t>(end - commands.begin());
    }

    void assign_singles(std::span<const SlotCommand> commands, std::vector<SlotReply>& replies) {
        std::vector<const AssignSlot*> events;
        events.reserve(commands.size());
        for (const SlotCommand& command : commands) {
            events.push_back(std::get_if<AssignSlot>(&command));
        }
        for (SlotOutcome& outcome : assign_each(events)) {
            replies.emplace_back(std::move(outcome));
        }
    }

    std::vector<SlotOutcome> assign_each(std::span<const AssignSlot* const> events) {
        std::vector<SlotOutcome> outcomes;
        outcomes.reserve(events.size());
        while (!events.empty()) {
            const auto part = events.first(std::min(events.size(), options_.batch_max));
            auto decided =
                options_.way == AssignWay::Batch ? batches_.assign_each(part) : functions_.assign_each(part);
            std::ranges::move(decided, std::back_inserter(outcomes));
            events = events.subspan(part.size());
        }
        return outcomes;
    }

    SlotReply run(const AssignSlot& command) {
        const AssignSlot* one = &command;
        return std::move(assign_each({&one, 1}).front());
    }
    SlotReply run(const AssignEach& command) {
        std::vector<const AssignSlot*> events;
        for (const AssignSlot& event : command.events) {
            events.push_back(&event);
        }
        return assign_each(events);
    }
    SlotReply run(const AssignAll& command) { return batches_.assign_all(command.events); }

    SlotReply run(const CancelSlot& command) { return changer_.cancel(command); }
    SlotReply run(const MoveSlot& command) { return changer_.move(command); }

    static SlotError config_refusal(const ConfigDraft& draft, const Failure& failure) {
        Duration::rep size = 0;
        std::from_chars(failure.message.data(), failure.message.data() + failure.message.size(), size);
        switch (failure.meaning()) {
            case Meaning::OtherWindowSize: return pool_has_other_size(draft.pool, Duration{size});
            case Meaning::WindowSizeInUse: return window_size_in_use(draft.pool, Duration{size});
            case Meaning::CheckFailed: return recut_overflows();
            default: return failure.contended() ? contended() : store_unavailable();
        }
    }

    Result<ConfigRef, SlotError> active(const ConfigName& name) {
        auto config = configs_.active(name);
        if (!config) {
            return Unexpected{unavailable(caller_, config.error())};
        }
        if (*config == nullptr) {
            return Unexpected{unknown_config(name)};
        }
        return std::move(*config);
    }

    // Every second. False when the connection was lost by it.
    bool look_around(Connection& connection) {
        mirror_.read_again(std::chrono::steady_clock::now() - kQuiet);
        return health_.examine(connection) && (!works_ || works_->look_around(connection));
    }

    // Of what others may have changed.
    void forget_all() {
        configs_.flush();
        mirror_.forget_all();
    }

    // What other nodes, and this one, have said.
    void heed(const std::string& said) {
        if (works_) {
            works_->heed(said);
        }
        if (const auto news = parse_news(said)) {
            std::visit([this](const auto& one) { heed(one); }, *news);
        }
    }
    void heed(const RoomAgain& news) { mirror_.learn_room(news.pool, news.window_start, news.places); }
    void heed(const PoolRecut& news) { mirror_.forget(news.pool); }
    void heed(const ConfigChanged& news) {
        configs_.heed_version(news.name, news.newest);
        bell_.ring(Instant{});
        if (works_ && news.newest != put_last_.load()) {
            works_->note_configs();
        }
    }
    void heed(const WorkAdded& news) { bell_.ring(news.earliest); }
    void heed(const CacheFlushed& news) {
        if (news.node != node_) {
            forget_all();
        }
    }

    const PostgresSlotOptions options_;
    const LedgerWorld world_;
    const Bodies bodies_;
    const std::int64_t node_;               // Tells what this node said from what others said.
    const std::shared_ptr<Server> server_;  // Other stores use it too.
    ConnectionShare pool_;
    PatientCaller caller_;
    ConfigReader configs_;
    const WindowMirror::SourceOf source_of_;
    const CellSourceOf cells_of_;
    ServerClock clock_;
    WindowMirror mirror_;
    Provisioner provisioner_;
    HeldEvents held_;
    BatchAssigner batches_;
    FunctionAssigner functions_;
    SlotChanger changer_;
    Housekeeper housekeeper_;
    std::counting_semaphore<kLongWaitsMax> long_waits_{kLongWaitsMax};
    StoreHealth health_;
    DueBell bell_;
    const std::unique_ptr<SharedWorkStore> works_;  // Null: works are looked after by other nodes.
    std::atomic<ConfigId> put_last_{};              // By this node, which was told then.
    NotificationListener listener_;                 // Last: what it hears goes to all of the above.
};

}  // namespace

Result<std::unique_ptr<PostgresSlotStore>, std::string> open_postgres_slot_store(
    std::shared_ptr<Server> server, const PostgresSlotOptions& options, LedgerWorld world,
    std::unique_ptr<SharedWorkStore> works) {
    auto store = std::make_unique<Store>(std::move(server), options, world, std::move(works));
    if (const auto reached = store->reach(); !reached) {
        return Unexpected{cannot_connect(reached.error())};
    }
    return std::unique_ptr<PostgresSlotStore>{std::move(store)};
}

}  // namespace sluice
