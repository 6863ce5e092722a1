#include "store/postgres/work/postgres_work_store.hpp"

#include <atomic>

#include "app/dispatch/work_news.hpp"
#include "store/postgres/client/connection_share.hpp"
#include "store/postgres/client/patient_caller.hpp"
#include "store/postgres/client/row_reader.hpp"
#include "store/postgres/client/work_story.hpp"
#include "store/postgres/work/gate_keeping.hpp"
#include "store/postgres/work/lane_starts.hpp"
#include "store/postgres/work/take_attempt.hpp"
#include "store/postgres/work/work_changing.hpp"
#include "store/postgres/work/work_pages.hpp"

namespace sluice {
namespace {

using namespace postgres;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kWorkComponent = "PostgresWorkStore";
// A change that is tried keeps all takes out for up to 50 ms: in between they go on. Longer in all than a
// node that is frozen within a take keeps anybody.
constexpr Patience kTermsPatience{milliseconds{5000}, milliseconds{75}};
// A count that took longer is kept for so many times as long as it took: so it never costs more than a
// twentieth of a server's core, however much is pending.
constexpr milliseconds kQuickCount{100};
constexpr int kCountKept = 20;

// From one lane to the next, by the index alone: what stands in a lane costs nothing.
constexpr Statement kLanes{
    "work_lanes",
    "with recursive lane as ((select w.lane_cd, w.lane_nm from sluice.work w where w.lane_cd <> 0 and "
    "w.lane_cd < 8"
    " order by w.lane_cd, w.lane_nm limit 1) union all"
    " select next.lane_cd, next.lane_nm from lane, lateral (select w.lane_cd, w.lane_nm from sluice.work w"
    " where w.lane_cd <> 0 and w.lane_cd < 8 and (w.lane_cd, w.lane_nm) > (lane.lane_cd, lane.lane_nm)"
    " order by w.lane_cd, w.lane_nm limit 1) as next) select lane_cd, lane_nm from lane"};
constexpr Statement kOpenClaims{"work_open_claims",
                                "select w.event_id, w.attempt_ct, w.pool_nm, w.host_nm, w.endpoint_nm, "
                                "greatest(0, sluice.to_ms(w.due_ts) - at.now_ms)"
                                " from (select sluice.limit_clock() / 1000 as now_ms) as at, sluice.work w"
                                " where w.lane_cd = 7 and w.lane_nm = '' order by w.due_ts, w.event_id"};
constexpr Statement kCounts{
    "work_counts", "select w.lane_cd, count(*) from sluice.work w where w.lane_cd <> 0 group by w.lane_cd"};
constexpr Statement kNow{"work_now", "select sluice.limit_clock() / 1000"};
constexpr Statement kPutHold{"work_put_hold", "select sluice.put_hold($1, $2, $3, $4)"};
constexpr Statement kEndHold{"work_end_hold", "select sluice.end_hold($1, $2, $3)"};
constexpr Statement kPutRate{"work_put_rate", "select sluice.put_rate($1, $2, $3, $4, $5)"};

Unexpected<StoreError> failed(const Failure& failure) { return Unexpected{StoreError{failure.described()}}; }

// The same for those who know nothing of PostgreSQL.
template <class T>
Result<T, StoreError> told(Result<T, Failure> outcome) {
    if (!outcome) {
        return failed(outcome.error());
    }
    return std::move(outcome).value();
}
Result<void, StoreError> told(const Result<void, Failure>& outcome) {
    return outcome ? Result<void, StoreError>{} : failed(outcome.error());
}

std::vector<Lane> read_lanes(const Rows& rows) {
    std::vector<Lane> lanes;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        lanes.push_back({static_cast<LaneKind>(rows.number(i, 0).value_or(0)), std::string{rows.text(i, 1)}});
    }
    return lanes;
}

std::optional<OpenClaim> read_claim(const Rows& rows, std::size_t row) {
    RowReader reader{rows, row};
    auto event = reader.name<EventId>();
    const auto attempt = reader.number_as<std::uint32_t>();
    auto pool = reader.name<PoolName>();
    Route route{reader.text(), {}};
    route.endpoint = reader.text();
    const Duration left{reader.number()};
    if (!reader.whole()) {
        return std::nullopt;
    }
    return OpenClaim{std::move(*event), attempt, std::move(*pool), std::move(route), left};
}

class WorkStoreOnPostgres final : public SharedWorkStore {
public:
    WorkStoreOnPostgres(std::shared_ptr<Server> server, WorkRouter router, Log& log)
        : router_{std::move(router)},
          node_{server->address().node},
          server_{std::move(server)},
          pool_{server_->pool(), {}},
          caller_{pool_, log, kWorkComponent} {}

    [[nodiscard]] bool is_shared() const override { return true; }

    Result<Taken, StoreError> take(const Lane& lane, std::size_t most, const Judge& judge) override {
        const Instant from = starts_.of(lane, steady_clock::now());
        TakeAttempt attempt{{router_, terms_, node_, from}, lane};
        if (const auto done =
                with_connection([&](Connection& connection) { return attempt.run(connection, most, judge); });
            !done) {
            return Unexpected{done.error()};
        }
        Taken taken = attempt.take_result();
        if (taken.fenced) {
            return taken;
        }
        starts_.nothing_before(lane, std::min(attempt.front(), taken.now - LaneStarts::kMargin));
        for (const auto& [filled, due] : attempt.filled()) {
            starts_.came_in(filled, due);
        }
        tell_of(attempt.news());
        return taken;
    }

    Result<void, StoreError> settle(std::span<const Settlement> settlements) override {
        if (settlements.empty()) {
            return {};
        }
        const auto settled = with_connection(
            [&](Connection& connection) { return settle_works(connection, settlements, node_); });
        if (!settled) {
            return Unexpected{settled.error()};
        }
        tell_of(settled->news);
        if (settled->parked) {
            news_.tell();
        }
        return {};
    }

    Result<std::vector<Lane>, StoreError> lanes() override {
        const auto rows = caller_.insist(kLanes, Parameters{});
        if (!rows) {
            return failed(rows.error());
        }
        return read_lanes(*rows);
    }

    Result<std::vector<OpenClaim>, StoreError> open_claims() override {
        const auto rows = caller_.insist(kOpenClaims, Parameters{});
        if (!rows) {
            return failed(rows.error());
        }
        std::vector<OpenClaim> claims;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            if (auto claim = read_claim(*rows, i)) {
                claims.push_back(std::move(*claim));
            }
        }
        return claims;
    }

    Result<std::optional<Keeping>, StoreError> keep(const std::string& node) override {
        return told(keep_gates(caller_, node));
    }
    void let_go(Fence fence) override {
        if (const auto gone = let_gates_go(caller_, fence); !gone) {
            caller_.tell(gone.error());  // It is over by itself soon.
        }
    }

    Result<bool, StoreError> note_permits(Fence fence, std::span<const OutsidePermit> permits) override {
        return with_connection(
            [&](Connection& connection) { return note_outside_permits(connection, fence, permits); });
    }
    Result<void, StoreError> drop_permits(std::span<const std::string> ids) override {
        const auto dropped = drop_outside_permits(caller_, ids);
        return dropped ? Result<void, StoreError>{} : failed(dropped.error());
    }
    Result<std::vector<OutsidePermit>, StoreError> outside_permits() override {
        return told(list_outside_permits(caller_));
    }

    Result<TermsRef, StoreError> terms() override {
        return with_connection([&](Connection& connection) -> Result<TermsRef, Failure> {
            TermsReader::queue_version(connection);
            const auto version = connection.flush();
            return version ? terms_.read(connection, version->front()) : Unexpected{version.error()};
        });
    }

    Result<void, StoreError> hold(const Subject& subject, const Hold& hold) override {
        return change_terms(kPutHold,
                            named(subject).add(static_cast<std::int64_t>(hold.why)).add(storable(hold.by)));
    }
    Result<void, StoreError> release(const Subject& subject, const std::string& by) override {
        return change_terms(kEndHold, named(subject).add(storable(by)));
    }
    Result<void, StoreError> put_rate(const Subject& subject, std::optional<GateTerms> rate,
                                      const std::string& by) override {
        Parameters parameters = named(subject);
        rate ? parameters.add(std::int64_t{rate->max_per_second}) : parameters.add_null();
        parameters.add(std::int64_t{rate && rate->holds == RateHolds::Sender ? 1 : 0});
        return change_terms(kPutRate, parameters.add(storable(by)));
    }

    Result<std::optional<WorkStory>, StoreError> find(const EventId& event_id) override {
        return with_connection([&](Connection& connection) -> Result<std::optional<WorkStory>, Failure> {
            queue_work_story(connection, event_id);
            const auto rows = connection.flush();
            return rows ? read_work_story(*rows) : Unexpected{rows.error()};
        });
    }

    Result<WorkPage, StoreError> list(const WorkFilter& filter) override {
        return with_connection([&](Connection& connection) { return list_works(connection, filter); });
    }

    Result<std::uint64_t, StoreError> replay(const ReplayRequest& request, const std::string& by) override {
        const std::string who = storable(by);
        std::uint64_t replayed = 0;
        for (std::span<const EventId> left{request.event_ids}; !left.empty();) {
            const auto some = left.first(std::min(left.size(), kReplayedAtOnce));
            if (const auto done = replay_some(some, request, who, replayed); !done) {
                return Unexpected{done.error()};
            }
            left = left.subspan(some.size());
        }
        if (request.event_ids.empty()) {
            if (const auto done = replay_all(request, who, replayed); !done) {
                return Unexpected{done.error()};
            }
        }
        return replayed;
    }

    Result<std::vector<LaneCount>, StoreError> counts() override {
        const auto asked = steady_clock::now();
        {
            const std::lock_guard lock{mutex_};
            if (asked < counts_hold_until_) {
                return counts_;
            }
        }
        const auto rows = caller_.call(kCounts, Parameters{});
        if (!rows) {
            return failed(rows.error());
        }
        std::vector<LaneCount> counts;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            counts.push_back({static_cast<LaneKind>(rows->number(i, 0).value_or(0)),
                              static_cast<std::uint64_t>(rows->number(i, 1).value_or(0))});
        }
        const auto took = steady_clock::now() - asked;
        const std::lock_guard lock{mutex_};
        counts_ = counts;
        counts_hold_until_ = took < kQuickCount ? asked : asked + took * kCountKept;
        return counts;
    }

    void on_news(std::function<void(const WorkTidings&)> call) override { news_.on_news(std::move(call)); }

    void note_added(Instant due) override { tell_of(due); }
    void note_configs() override { news_.tell(); }

    void heed(std::string_view said) override {
        const auto words = parse_work_words(said);
        if (words && words->node != node_) {
            std::visit([this](const auto& news) { heed(news); }, words->news);
        }
    }

    void forget_all() override {
        starts_.forget_all();
        lanes_unheard_ = true;
        news_.tell();
    }

    bool look_around(Connection& connection) override {
        if (!lanes_unheard_.exchange(false)) {
            return true;
        }
        const auto rows = connection.run(kLanes);
        if (!rows) {
            lanes_unheard_ = true;
            return !rows.error().connection_lost;
        }
        if (auto lanes = read_lanes(*rows); !lanes.empty()) {
            news_.tell({std::move(lanes)});
        }
        return true;
    }

private:
    // On a connection of the pool; what was not committed by then is rolled back.
    template <class Act>
    auto with_connection(const Act& act) -> decltype(told(act(std::declval<Connection&>()))) {
        const auto lease = caller_.take_connection();
        if (!lease) {
            return failed(lease.error());
        }
        return told(act(**lease));
    }

    static Parameters named(const Subject& subject) {
        Parameters parameters;
        parameters.add(static_cast<std::int64_t>(subject.kind)).add(subject.name);
        return parameters;
    }

    Result<void, StoreError> change_terms(const Statement& statement, const Parameters& parameters) {
        const auto rows = caller_.insist(statement, parameters, kTermsPatience);
        if (!rows) {
            return failed(rows.error());
        }
        if (!rows->empty() && rows->boolean(0, 0).value_or(false)) {
            news_.tell();
        }
        return {};
    }

    Result<void, StoreError> replay_some(std::span<const EventId> events, const ReplayRequest& request,
                                         const std::string& by, std::uint64_t& replayed) {
        const auto changed = with_connection([&](Connection& connection) {
            return replay_works(connection, events, {request, by, node_});
        });
        if (!changed) {
            return Unexpected{changed.error()};
        }
        replayed += changed->works;
        tell_of(changed->news);
        return {};
    }

    Result<void, StoreError> replay_all(ReplayRequest request, const std::string& by,
                                        std::uint64_t& replayed) {
        // What dies from now on is not meant: without an end it might be replayed for ever.
        const auto now = caller_.insist(kNow, Parameters{});
        if (!now) {
            return failed(now.error());
        }
        const Instant end{Duration{now->number(0, 0).value_or(0) + 1}};
        request.until = std::min(request.until.value_or(end), end);
        // No event has an empty name: what died at that very time is behind it.
        LanePoint after{request.since.value_or(Instant{}), {}};
        for (;;) {
            const auto page = with_connection(
                [&](Connection& connection) { return find_dead(connection, request, after); });
            if (!page) {
                return Unexpected{page.error()};
            }
            if (!page->last) {
                return {};
            }
            if (!page->events.empty()) {
                if (auto done = replay_some(page->events, request, by, replayed); !done) {
                    return done;
                }
            }
            after = *page->last;
        }
    }

    void tell_of(std::optional<Instant> due) {
        if (due) {
            starts_.came_in(Lane{}, *due);
            news_.tell();
        }
    }

    void heed(const WorkWaits& news) { tell_of(news.due); }
    void heed(const LaneFilled& news) {
        starts_.forget(news.lane);
        news_.tell({{news.lane}});
    }
    void heed(const LanesFilled& /*news*/) {
        starts_.forget_all();
        lanes_unheard_ = true;  // They are read within a second.
    }
    void heed(const TermsChanged& /*news*/) { news_.tell(); }

    const WorkRouter router_;
    const NodeNumber node_;                 // Tells what this node said from what others said.
    const std::shared_ptr<Server> server_;  // Other stores use it too.
    ConnectionShare pool_;
    PatientCaller caller_;
    TermsReader terms_;
    LaneStarts starts_;
    WorkNews news_;
    std::atomic<bool> lanes_unheard_ = false;  // Alone: it says only that something is to be asked.
    std::mutex mutex_;
    std::vector<LaneCount> counts_;                 // Guarded by mutex_, like the next.
    steady_clock::time_point counts_hold_until_{};  // Until then they need not be counted again.
};

}  // namespace

std::unique_ptr<SharedWorkStore> make_postgres_work_store(std::shared_ptr<Server> server, WorkRouter router,
                                                          Log& log) {
    return std::make_unique<WorkStoreOnPostgres>(std::move(server), std::move(router), log);
}

}  // namespace sluice
