#include "support/naive_work_store.hpp"

#include <algorithm>
#include <tuple>

namespace sluice::test {
namespace {

StoreError failure() { return {"a test broke the store"}; }

WorkState waiting(const Work& work) { return work.attempts == 0 ? WorkState::Pending : WorkState::Retrying; }

}  // namespace

NaiveWorkStore::NaiveWorkStore(const Clock& clock, Window window, std::function<void()> commit)
    : clock_{clock}, window_{window}, grid_{window.size}, commit_{std::move(commit)} {}

void NaiveWorkStore::add(const WorkDraft& draft) {
    {
        const std::lock_guard lock{mutex_};
        Work work{.event_id = *EventId::make(draft.event_id),
                  .config = *ConfigName::make(draft.config),
                  .pool = *PoolName::make(draft.pool),
                  .route = draft.route,
                  .target = draft.target,
                  .scheduled = draft.scheduled,
                  .weight = draft.weight,
                  .due = draft.scheduled};
        if (draft.expires_after) {
            work.expires = draft.scheduled + *draft.expires_after;
        }
        WorkOrder order{.target = {draft.target, draft.route.endpoint}, .route = draft.route};
        order.payload = "payload of " + draft.event_id;
        window(work.pool, grid_.index_of(draft.scheduled)).planned += draft.weight;
        const EventId id = work.event_id;
        Row& row = rows_.emplace(id, Row{std::move(work), std::move(order)}).first->second;
        stand(row, {}, draft.scheduled);
    }
    tell();
}

void NaiveWorkStore::plan_more(const std::string& pool, Instant when, Places places) {
    const std::lock_guard lock{mutex_};
    window(*PoolName::make(pool), grid_.index_of(when)).planned += places;
}

void NaiveWorkStore::withdraw(const std::string& event_id) {
    const std::lock_guard lock{mutex_};
    Row& row = rows_.at(*EventId::make(event_id));
    leave(row);
    row.work.state = WorkState::Withdrawn;
}

void NaiveWorkStore::put_schedule(const std::string& config, RetrySchedule schedule) {
    change_terms([&](DispatchTerms& terms) {
        terms.schedules.insert_or_assign(*ConfigName::make(config), std::move(schedule));
    });
}

void NaiveWorkStore::fail_at(std::size_t call, Fails how, bool for_ever) {
    const std::lock_guard lock{mutex_};
    fails_at_ = calls_ + call;
    fails_how_ = how;
    for_ever_ = for_ever;
}

void NaiveWorkStore::heal() {
    const std::lock_guard lock{mutex_};
    fails_at_ = 0;
}

std::size_t NaiveWorkStore::calls() const {
    const std::lock_guard lock{mutex_};
    return calls_;
}

Work NaiveWorkStore::work(const std::string& event_id) const {
    const std::lock_guard lock{mutex_};
    return rows_.at(*EventId::make(event_id)).work;
}

std::vector<AuditLine> NaiveWorkStore::audit(const std::string& event_id) const {
    const std::lock_guard lock{mutex_};
    return rows_.at(*EventId::make(event_id)).audit;
}

std::size_t NaiveWorkStore::in_state(WorkState state) const {
    const std::lock_guard lock{mutex_};
    return static_cast<std::size_t>(std::count_if(
        rows_.begin(), rows_.end(), [state](const auto& row) { return row.second.work.state == state; }));
}

std::map<WindowIndex, WindowSends> NaiveWorkStore::sends(const std::string& pool) const {
    const std::lock_guard lock{mutex_};
    const auto found = windows_.find(pool);
    return found == windows_.end() ? std::map<WindowIndex, WindowSends>{} : found->second;
}

bool NaiveWorkStore::begin_call() {
    ++calls_;
    return !fails(Fails::Before);
}

bool NaiveWorkStore::fails(Fails how) const {
    return fails_at_ != 0 && how == fails_how_ && (for_ever_ ? calls_ >= fails_at_ : calls_ == fails_at_);
}

WindowSends& NaiveWorkStore::window(const PoolName& pool, WindowIndex index) {
    WindowSends& sends = windows_[pool.text()][index];
    sends.window = index;
    sends.cap = window_.cap;
    return sends;
}

Lateness NaiveWorkStore::lateness(const Row& row, Instant now) const {
    const bool late = row.work.attempts > 0 || grid_.index_of(row.work.scheduled) < grid_.index_of(now);
    return late ? Lateness::Late : Lateness::Fresh;
}

void NaiveWorkStore::leave(Row& row) {
    auto& lane = lanes_[row.work.lane];
    lane.erase({row.work.due, row.work.event_id});
    if (lane.empty()) {
        lanes_.erase(row.work.lane);
    }
}

void NaiveWorkStore::stand(Row& row, Lane lane, Instant due) {
    row.work.lane = std::move(lane);
    row.work.due = due;
    lanes_[row.work.lane].emplace(due, row.work.event_id);
}

void NaiveWorkStore::share(Duration lease) {
    const std::lock_guard lock{mutex_};
    lease_ = lease;
}

bool NaiveWorkStore::is_keeper(Fence fence) const {
    return fence == fence_ && !keeper_.empty() && (!lease_ || clock_.now() < kept_until_);
}

Result<std::optional<Keeping>, StoreError> NaiveWorkStore::keep(const std::string& node) {
    Keeping keeping{.fence = 0, .lasts = Duration::max()};
    {
        const std::lock_guard lock{mutex_};
        if (!begin_call()) {
            return Unexpected{failure()};
        }
        const Instant now = clock_.now();
        if (keeper_ != node && !keeper_.empty() && lease_ && now < kept_until_) {
            return std::optional<Keeping>{};
        }
        fence_ += keeper_ == node ? 0 : 1;
        keeper_ = node;
        keeping.fence = fence_;
        if (lease_) {
            kept_until_ = now + *lease_;
            keeping.lasts = *lease_;
        }
        if (fails(Fails::After)) {
            return Unexpected{failure()};
        }
    }
    commit();
    return std::optional{keeping};
}

void NaiveWorkStore::let_go(Fence fence) {
    const std::lock_guard lock{mutex_};
    if (begin_call() && fence == fence_) {
        keeper_.clear();
    }
}

Result<bool, StoreError> NaiveWorkStore::note_permits(Fence fence, std::span<const OutsidePermit> permits) {
    {
        const std::lock_guard lock{mutex_};
        if (!begin_call()) {
            return Unexpected{failure()};
        }
        if (!is_keeper(fence)) {
            return false;
        }
        for (const OutsidePermit& permit : permits) {
            permits_.insert_or_assign(permit.id, Lent{permit.gate, clock_.now() + permit.left});
        }
        if (fails(Fails::After)) {
            return Unexpected{failure()};
        }
    }
    commit();
    return true;
}

Result<void, StoreError> NaiveWorkStore::drop_permits(std::span<const std::string> ids) {
    const std::lock_guard lock{mutex_};
    if (!begin_call()) {
        return Unexpected{failure()};
    }
    for (const std::string& id : ids) {
        permits_.erase(id);
    }
    return {};
}

Result<std::vector<OutsidePermit>, StoreError> NaiveWorkStore::outside_permits() {
    const std::lock_guard lock{mutex_};
    if (!begin_call()) {
        return Unexpected{failure()};
    }
    std::vector<OutsidePermit> all;
    for (const auto& [id, lent] : permits_) {
        if (lent.until > clock_.now()) {
            all.push_back({id, lent.gate, lent.until - clock_.now()});
        }
    }
    return all;
}

Result<Taken, StoreError> NaiveWorkStore::take(const Lane& lane, std::size_t most, const Judge& judge) {
    return take_as(this, lane, most, judge);
}

Result<Taken, StoreError> NaiveWorkStore::take_as(const void* who, const Lane& lane, std::size_t most,
                                                  const Judge& judge) {
    Taken taken;
    bool ok = true;
    {
        const std::lock_guard lock{mutex_};
        if (!begin_call()) {
            return Unexpected{failure()};
        }
        const Instant now = clock_.now();
        taken.now = now;
        const TermsRef terms = terms_;
        auto before = lease_ ? std::tuple{rows_, lanes_, windows_} : std::tuple{Rows{}, Lanes{}, Windows{}};
        std::vector<EventId> due;
        for (const auto& [when, event_id] : lanes_[lane]) {
            if (when > now || due.size() >= most) {
                break;
            }
            due.push_back(event_id);
        }
        for (const EventId& event_id : due) {
            Row& row = rows_.at(event_id);
            const WindowIndex index = grid_.index_of(now);
            const DueWork seen{row.work, window(row.work.pool, index), lateness(row, now), *terms,
                               now,      grid_.start_of(index + 1)};
            const WorkVerdict verdict = judge(seen);
            const auto* const claimed = std::get_if<ClaimIt>(&verdict);
            if (claimed != nullptr && claimed->fence && !is_keeper(*claimed->fence)) {
                std::tie(rows_, lanes_, windows_) = std::move(before);
                taken = {.claimed = {}, .filled = {}, .next = {}, .now = now, .fenced = true};
                break;
            }
            if (!apply(row, verdict, now, taken)) {
                break;
            }
        }
        if (const auto& left = lanes_[lane]; !left.empty()) {
            taken.next = left.begin()->first;
        } else {
            lanes_.erase(lane);
        }
        ok = !fails(Fails::After);
    }
    commit();
    if (!taken.filled.empty()) {
        tell({{taken.filled.begin(), taken.filled.end()}}, who);
    }
    if (!ok) {
        return Unexpected{failure()};
    }
    return taken;
}

// False: it stays, and ends the take.
bool NaiveWorkStore::apply(Row& row, const WorkVerdict& verdict, Instant now, Taken& taken) {
    if (const auto* const it = std::get_if<ClaimIt>(&verdict)) {
        claim(row, it->lease, now, taken);
    } else if (const auto* const aside = std::get_if<SetAside>(&verdict)) {
        leave(row);
        row.work.state = aside->parked ? WorkState::Parked : waiting(row.work);
        stand(row, aside->lane, row.work.due);
        taken.filled.insert(aside->lane);
    } else if (const auto* const again = std::get_if<TryAgain>(&verdict)) {
        leave(row);
        row.work.state = WorkState::Retrying;
        row.audit.push_back(again->line);
        stand(row, {}, now + again->pause);
    } else if (const auto* const up = std::get_if<GiveUp>(&verdict)) {
        leave(row);
        row.work.state = up->state;
        row.audit.push_back(up->line);
        stand(row, {LaneKind::Dead, {}}, now);
    } else {
        return false;
    }
    return true;
}

void NaiveWorkStore::claim(Row& row, Duration lease, Instant now, Taken& taken) {
    row.claimed_in = grid_.index_of(now);
    WindowSends& sends = window(row.work.pool, row.claimed_in);
    sends.sent += row.work.weight;
    sends.late += lateness(row, now) == Lateness::Late ? row.work.weight : 0;
    leave(row);
    row.work.state = WorkState::Claimed;
    ++row.work.attempts;
    ++row.work.tries;
    stand(row, {LaneKind::Claimed, {}}, now + lease);
    taken.claimed.push_back({row.work, row.order});
}

Result<void, StoreError> NaiveWorkStore::settle(std::span<const Settlement> settlements) {
    bool ok = true;
    {
        const std::lock_guard lock{mutex_};
        if (!begin_call()) {
            return Unexpected{failure()};
        }
        for (const Settlement& settlement : settlements) {
            settle_one(settlement, clock_.now());
        }
        ok = !fails(Fails::After);
    }
    commit();
    tell();
    if (!ok) {
        return Unexpected{failure()};
    }
    return {};
}

void NaiveWorkStore::settle_one(const Settlement& settlement, Instant now) {
    Row& row = rows_.at(settlement.event_id);
    const bool not_sent = std::holds_alternative<Settlement::NotSent>(settlement.after);
    if (!not_sent) {
        row.audit.push_back(settlement.line);
    }
    if (row.work.state != WorkState::Claimed || row.work.attempts != settlement.attempt) {
        return;
    }
    leave(row);
    if (not_sent) {
        --row.work.attempts;
        --row.work.tries;
        WindowSends& sends = window(row.work.pool, row.claimed_in);
        sends.sent -= row.work.weight;
        sends.late -= std::min(sends.late, lateness(row, now) == Lateness::Late ? row.work.weight : 0);
        row.work.state = waiting(row.work);
        stand(row, {}, now);
    } else if (const auto* const again = std::get_if<Settlement::Again>(&settlement.after)) {
        row.work.state = WorkState::Retrying;
        stand(row, {}, now + again->pause);
    } else if (const auto* const parked = std::get_if<Settlement::Parked>(&settlement.after)) {
        row.work.state = WorkState::Parked;
        stand(row, {LaneKind::Endpoint, row.work.route.endpoint}, now);
        auto terms = std::make_shared<DispatchTerms>(*terms_);
        terms->holds.insert(
            {{SubjectKind::Endpoint, row.work.route.endpoint}, {Hold::Why::Gone, now, parked->by}});
        terms_ = std::move(terms);
    } else if (std::holds_alternative<Settlement::Failed>(settlement.after)) {
        row.work.state = WorkState::Dead;
        stand(row, {LaneKind::Dead, {}}, now);
    } else {
        row.work.state = WorkState::Sent;
        row.work.due = now;
    }
}

Result<std::vector<Lane>, StoreError> NaiveWorkStore::lanes() {
    const std::lock_guard lock{mutex_};
    if (!begin_call() || fails(Fails::After)) {
        return Unexpected{failure()};
    }
    std::vector<Lane> all;
    for (const auto& [lane, works] : lanes_) {
        if (lane.kind != LaneKind::Dead) {
            all.push_back(lane);
        }
    }
    return all;
}

Result<std::vector<OpenClaim>, StoreError> NaiveWorkStore::open_claims() {
    const std::lock_guard lock{mutex_};
    if (!begin_call() || fails(Fails::After)) {
        return Unexpected{failure()};
    }
    std::vector<OpenClaim> claims;
    for (const auto& [event_id, row] : rows_) {
        if (row.work.state == WorkState::Claimed) {
            claims.push_back({event_id, row.work.attempts, row.work.pool, row.work.route,
                              std::max(row.work.due - clock_.now(), Duration::zero())});
        }
    }
    return claims;
}

Result<TermsRef, StoreError> NaiveWorkStore::terms() {
    const std::lock_guard lock{mutex_};
    if (!begin_call() || fails(Fails::After)) {
        return Unexpected{failure()};
    }
    return terms_;
}

void NaiveWorkStore::change_terms(const std::function<void(DispatchTerms&)>& change) {
    {
        const std::lock_guard lock{mutex_};
        auto terms = std::make_shared<DispatchTerms>(*terms_);
        change(*terms);
        terms_ = std::move(terms);
    }
    tell();
}

Result<void, StoreError> NaiveWorkStore::hold(const Subject& subject, const Hold& hold) {
    change_terms([&](DispatchTerms& terms) { terms.holds.insert({subject, hold}); });
    return {};
}

Result<void, StoreError> NaiveWorkStore::release(const Subject& subject, const std::string& /*by*/) {
    change_terms([&](DispatchTerms& terms) { terms.holds.erase(subject); });
    return {};
}

Result<void, StoreError> NaiveWorkStore::put_rate(const Subject& subject, std::optional<GateTerms> rate,
                                                  const std::string& /*by*/) {
    change_terms([&](DispatchTerms& terms) {
        terms.gates.erase(subject);
        if (rate) {
            terms.gates.insert({subject, *rate});
        }
    });
    return {};
}

// The dispatcher asks none of these.
Result<std::optional<WorkStory>, StoreError> NaiveWorkStore::find(const EventId& /*event_id*/) {
    return Unexpected{failure()};
}
Result<WorkPage, StoreError> NaiveWorkStore::list(const WorkFilter& /*filter*/) {
    return Unexpected{failure()};
}
Result<std::uint64_t, StoreError> NaiveWorkStore::replay(const ReplayRequest& /*request*/,
                                                         const std::string& /*by*/) {
    return Unexpected{failure()};
}
Result<std::vector<LaneCount>, StoreError> NaiveWorkStore::counts() { return Unexpected{failure()}; }

void NaiveWorkStore::on_news(std::function<void(const WorkTidings&)> call) { listen(this, std::move(call)); }

void NaiveWorkStore::listen(const void* who, Listener call) {
    const std::lock_guard lock{mutex_};
    if (call) {
        listeners_.insert_or_assign(who, std::move(call));
    } else {
        listeners_.erase(who);
    }
}

void NaiveWorkStore::tell(const WorkTidings& tidings, const void* not_to) {
    std::map<const void*, Listener> listeners;
    {
        const std::lock_guard lock{mutex_};
        listeners = listeners_;
    }
    for (const auto& [who, call] : listeners) {
        if (who != not_to) {
            call(tidings);
        }
    }
}

void NaiveWorkStore::commit() {
    if (commit_) {
        commit_();
    }
}

}  // namespace sluice::test
