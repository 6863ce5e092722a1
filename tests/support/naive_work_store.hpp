#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/dispatch/work_store.hpp"
#include "base/time.hpp"

namespace sluice::test {

// A work as a test brings it.
struct WorkDraft {
    std::string event_id;
    Instant scheduled;
    std::string pool = "pool";
    std::string config = "config";
    Route route{};
    Places weight = 1;
    std::optional<Duration> expires_after{};
    TargetKind target = TargetKind::Webhook;
};

// Works in memory, in the plainest way, for tests of the dispatcher: maps, and no care for speed. It can fail
// at any call, before or after that took effect, and outlives the dispatchers that use it.
// Thread safety: all of it.
class NaiveWorkStore final : public WorkStore {
public:
    struct Window {
        Duration size{std::chrono::hours{1}};
        Places cap = 1'000'000;
    };
    enum class Fails { Before, After };

    // `commit` is run in every call that writes, without a lock, as long as a disk would take.
    NaiveWorkStore(const Clock& clock, Window window, std::function<void()> commit = {});

    void add(const WorkDraft& draft);
    // What slots hold in the window of that time, beside the works that are added.
    void plan_more(const std::string& pool, Instant when, Places places);
    void withdraw(const std::string& event_id);
    void put_schedule(const std::string& config, RetrySchedule schedule);

    // Whoever keeps the gates does so for so long. Before that nobody else ever can.
    void share(Duration lease);
    // Others that listen, beside the one of on_news(). Null: no longer.
    using Listener = std::function<void(const WorkTidings&)>;
    void listen(const void* who, Listener call);
    // What a take by somebody who does not listen tells the others.
    Result<Taken, StoreError> take_as(const void* who, const Lane& lane, std::size_t most,
                                      const Judge& judge);

    // The nth call from now on fails, once, or all from there on.
    void fail_at(std::size_t call, Fails how, bool for_ever = false);
    void heal();
    [[nodiscard]] std::size_t calls() const;

    [[nodiscard]] Work work(const std::string& event_id) const;
    [[nodiscard]] std::vector<AuditLine> audit(const std::string& event_id) const;
    [[nodiscard]] std::size_t in_state(WorkState state) const;
    // What went out in each window of a pool.
    [[nodiscard]] std::map<WindowIndex, WindowSends> sends(const std::string& pool) const;

    [[nodiscard]] bool is_shared() const override { return false; }
    Result<Taken, StoreError> take(const Lane& lane, std::size_t most, const Judge& judge) override;
    Result<void, StoreError> settle(std::span<const Settlement> settlements) override;
    Result<std::vector<Lane>, StoreError> lanes() override;
    Result<std::vector<OpenClaim>, StoreError> open_claims() override;
    Result<std::optional<Keeping>, StoreError> keep(const std::string& node) override;
    void let_go(Fence fence) override;
    Result<bool, StoreError> note_permits(Fence fence, std::span<const OutsidePermit> permits) override;
    Result<void, StoreError> drop_permits(std::span<const std::string> ids) override;
    Result<std::vector<OutsidePermit>, StoreError> outside_permits() override;
    Result<TermsRef, StoreError> terms() override;
    Result<void, StoreError> hold(const Subject& subject, const Hold& hold) override;
    Result<void, StoreError> release(const Subject& subject, const std::string& by) override;
    Result<void, StoreError> put_rate(const Subject& subject, std::optional<GateTerms> rate,
                                      const std::string& by) override;
    Result<std::optional<WorkStory>, StoreError> find(const EventId& event_id) override;
    Result<WorkPage, StoreError> list(const WorkFilter& filter) override;
    Result<std::uint64_t, StoreError> replay(const ReplayRequest& request, const std::string& by) override;
    Result<std::vector<LaneCount>, StoreError> counts() override;
    void on_news(std::function<void(const WorkTidings&)> call) override;

private:
    struct Row {
        Work work;
        WorkOrder order;
        std::vector<AuditLine> audit{};
        WindowIndex claimed_in = 0;
    };

    using Rows = std::map<EventId, Row>;
    using Lanes = std::map<Lane, std::set<std::pair<Instant, EventId>>>;
    using Windows = std::map<std::string, std::map<WindowIndex, WindowSends>>;

    // With mutex_ held:
    [[nodiscard]] bool fails(Fails how) const;
    [[nodiscard]] WindowSends& window(const PoolName& pool, WindowIndex index);
    [[nodiscard]] Lateness lateness(const Row& row, Instant now) const;
    void stand(Row& row, Lane lane, Instant due);
    void leave(Row& row);
    [[nodiscard]] bool apply(Row& row, const WorkVerdict& verdict, Instant now, Taken& taken);
    void claim(Row& row, Duration lease, Instant now, Taken& taken);
    void settle_one(const Settlement& settlement, Instant now);
    [[nodiscard]] bool begin_call();

    void change_terms(const std::function<void(DispatchTerms&)>& change);
    void tell(const WorkTidings& tidings = {}, const void* not_to = nullptr);
    [[nodiscard]] bool is_keeper(Fence fence) const;
    void commit();

    const Clock& clock_;
    const Window window_;
    const WindowGrid grid_;
    const std::function<void()> commit_;
    mutable std::mutex mutex_;
    Rows rows_;  // Guarded by mutex_, like all that follows.
    Lanes lanes_;
    Windows windows_;
    TermsRef terms_ = std::make_shared<const DispatchTerms>();
    std::map<const void*, Listener> listeners_;
    std::optional<Duration> lease_;  // Nothing: nobody else can be the keeper.
    std::string keeper_;             // Empty: nobody.
    Fence fence_ = 0;
    Instant kept_until_{};
    struct Lent {
        Subject gate;
        Instant until;
    };
    std::map<std::string, Lent> permits_;
    std::size_t calls_ = 0;
    std::size_t fails_at_ = 0;  // 0: never.
    Fails fails_how_ = Fails::Before;
    bool for_ever_ = false;
};

}  // namespace sluice::test
