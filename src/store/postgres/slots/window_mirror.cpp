#include "store/postgres/slots/window_mirror.hpp"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "store/postgres/slots/passed_windows.hpp"

namespace sluice::postgres {
namespace {

constexpr std::size_t kEntriesMax = 200'000;  // Nodes and chunks of a pool; at most some 100 MB.
constexpr std::size_t kSpare = 32;            // As many as the workers of a few nodes may hold at once.
constexpr std::size_t kNotesMax = 100'000;    // Of a pool in which nobody plans; with more it is forgotten.

// A pool as one worker sees it while it plans: what it has put into windows itself, and all that nobody else
// of this node has claimed.
class Draft final : public WindowCounts {
public:
    Draft(PoolWindows& counts, std::unordered_set<WindowIndex>& claimed, const std::set<WindowIndex>& avoided)
        : counts_{counts}, claimed_{claimed}, avoided_{avoided} {}

    Places held(WindowIndex window) override {
        if (const auto own = own_.find(window); own != own_.end()) {
            return own->second;
        }
        return is_taken(window) ? std::numeric_limits<Places>::max() : counts_.held(window);
    }

    // What this worker has put into a window is more than what was there: whatever has room for it now had
    // room before.
    std::optional<WindowIndex> earliest_holding_at_most(WindowRange range, Places held_max) override {
        std::optional<WindowIndex> found;
        WindowIndex next = passed_.skip(range.first, held_max);
        while (next <= range.last) {
            found = counts_.earliest_holding_at_most({next, range.last}, held_max);
            if (!found || held(*found) <= held_max) {
                break;
            }
            next = passed_.skip(*found + 1, held_max);
            found.reset();
        }
        passed_.note(range.first, found.value_or(range.last + 1), held_max);
        return found;
    }

    // The same among windows that nobody has claimed, this worker neither.
    std::optional<WindowIndex> earliest_free(WindowRange range, Places held_max) {
        while (range.first <= range.last) {
            const auto found = counts_.earliest_holding_at_most(range, held_max);
            if (!found || !is_taken(*found)) {
                return found;
            }
            range.first = *found + 1;
        }
        return std::nullopt;
    }

    void take(WindowIndex window, Places places) {
        auto own = own_.find(window);
        if (own == own_.end()) {
            own = own_.emplace(window, counts_.held(window)).first;
            claimed_.insert(window);
        }
        own->second += places;
    }

    [[nodiscard]] std::vector<WindowIndex> taken() const {
        std::vector<WindowIndex> windows;
        for (const auto& [window, held] : own_) {
            windows.push_back(window);
        }
        return windows;
    }

private:
    [[nodiscard]] bool is_taken(WindowIndex window) const {
        return claimed_.contains(window) || avoided_.contains(window);
    }

    PoolWindows& counts_;
    std::unordered_set<WindowIndex>& claimed_;
    const std::set<WindowIndex>& avoided_;
    std::map<WindowIndex, Places> own_;
    PassedWindows passed_;
};

// Windows behind those that were taken, for the case that others hold them.
std::vector<WindowIndex> choose_spare(Draft& draft, std::span<const PlacedAsk> asks) {
    Places room = 0;
    WindowRange range{std::numeric_limits<WindowIndex>::max(), 0};
    for (const auto& [policy, ask] : asks) {
        const WindowRange reached = reach(policy, ask);
        room = std::max(room, policy.max_per_window - ask.weight);
        range = {std::min(range.first, reached.first), std::max(range.last, reached.last)};
    }
    if (const auto taken = draft.taken(); !taken.empty()) {
        range.first = taken.front() + 1;
    }
    std::vector<WindowIndex> spare;
    while (spare.size() < kSpare && range.first <= range.last) {
        const auto window = draft.earliest_free(range, room);
        if (!window) {
            break;
        }
        spare.push_back(*window);
        range.first = *window + 1;
    }
    return spare;
}

}  // namespace

struct WindowMirror::PoolView {
    PoolView(Duration window_size, CountSource source) : size{window_size}, counts{std::move(source)} {}

    const Duration size;
    std::mutex planning;
    PoolWindows counts;                         // Guarded by planning, like the next.
    std::unordered_set<WindowIndex> claimed{};  // By workers of this node.
    std::vector<Note> notes{};       // Guarded by the mirror's mutex, like all below. Oldest first.
    bool is_large = false;           // Too large to be kept.
    SteadyTime asked{};              // When it was last.
    std::uint64_t changed = 0;       // The number of its last change.
    std::uint64_t read_changed = 0;  // The same when all of it was last read.
};

WindowMirror::WindowMirror(SourceOf source_of) : source_of_{std::move(source_of)} {}
WindowMirror::~WindowMirror() = default;

WindowMirror::Claim::Claim(Claim&& other) noexcept
    : planned{std::move(other.planned)},
      spare{std::move(other.spare)},
      horizon{other.horizon},
      plan{std::move(other.plan)},
      unplaced{std::move(other.unplaced)},
      mirror_{std::exchange(other.mirror_, nullptr)},
      open_{other.open_} {}

WindowMirror::Claim::~Claim() {
    if (mirror_ != nullptr) {
        mirror_->release(*this);
    }
}

Result<WindowMirror::Claim, StoreError> WindowMirror::claim(const PoolName& pool,
                                                            std::span<const PlacedAsk> asks,
                                                            const std::set<WindowIndex>& avoided) {
    std::unique_lock lock{mutex_};
    const std::shared_ptr<PoolView> view = view_of(pool, asks.front().policy.grid.size());
    view->asked = std::chrono::steady_clock::now();
    view->changed = ++changes_;
    lock.unlock();
    const std::lock_guard planning{view->planning};
    heed_notes(*view);
    lock.lock();
    // What came in since is newer than what is read from here on.
    Claim claim{*this, open_.insert(open_.end(), {pool, view})};
    lock.unlock();
    Draft draft{view->counts, view->claimed, avoided};
    for (std::size_t i = 0; i < asks.size(); ++i) {
        claim.plan.push_back(find_window(asks[i].policy, asks[i].ask, draft));
        if (claim.plan.back()) {
            draft.take(*claim.plan.back(), asks[i].ask.weight);
        } else {
            claim.unplaced.push_back(i);
        }
    }
    claim.planned = draft.taken();
    claim.spare = choose_spare(draft, asks);
    claim.horizon =
        claim.spare.size() < kSpare ? std::numeric_limits<WindowIndex>::max() : claim.spare.back();
    lock.lock();
    view->is_large = view->counts.entries() > kEntriesMax;
    if (const auto failure = view->counts.failure()) {
        if (view_of(*claim.open_) != nullptr) {
            pools_.erase(pool);
        }
        lock.unlock();  // The claim is given up on the way out.
        return Unexpected{*failure};
    }
    return claim;
}

void WindowMirror::heed_notes(PoolView& view) {
    std::vector<Note> notes;
    {
        const std::lock_guard lock{mutex_};
        notes.swap(view.notes);
    }
    for (const auto& [window, kind, places] : notes) {
        switch (kind) {
            case Note::Kind::Holds: view.counts.set(window, places); break;
            case Note::Kind::HasRoom:
                if (places < view.counts.held(window)) {
                    view.counts.set(window, places);
                }
                break;
            case Note::Kind::Unclaimed: view.claimed.erase(window); break;
        }
    }
}

void WindowMirror::note(const PoolName& pool, PoolView& view, Note note) {
    view.notes.push_back(note);
    if (view.notes.size() > kNotesMax) {
        pools_.erase(pool);
    }
}

void WindowMirror::learn(const Claim& claim, const std::map<WindowIndex, Places>& seen) {
    const std::lock_guard lock{mutex_};
    PoolView* view = view_of(*claim.open_);
    if (view == nullptr) {
        return;
    }
    view->changed = ++changes_;
    for (const auto& [window, places] : seen) {
        if (!claim.open_->overtaken.contains(window)) {
            note(claim.open_->pool, *view, {window, Note::Kind::Holds, places});
        }
    }
}

void WindowMirror::doubt(const Claim& claim) {
    const std::lock_guard lock{mutex_};
    if (view_of(*claim.open_) != nullptr) {
        pools_.erase(claim.open_->pool);
    }
}

void WindowMirror::learn_room(const PoolName& pool, Instant window_start, Places places) {
    const std::lock_guard lock{mutex_};
    const auto found = pools_.find(pool);
    if (found == pools_.end()) {
        return;
    }
    PoolView& view = *found->second;
    view.changed = ++changes_;
    const WindowIndex window = WindowGrid{view.size}.index_of(window_start);
    for (OpenClaim& open : open_) {
        if (open.view == found->second) {
            open.overtaken.insert(window);
        }
    }
    note(pool, view, {window, Note::Kind::HasRoom, places});
}

void WindowMirror::forget(const PoolName& pool) {
    const std::lock_guard lock{mutex_};
    pools_.erase(pool);
}

void WindowMirror::forget_all() {
    const std::lock_guard lock{mutex_};
    pools_.clear();
}

void WindowMirror::read_again(SteadyTime quiet_since) {
    struct Quiet {
        PoolName pool;
        std::shared_ptr<PoolView> view;
        std::uint64_t changed;
    };
    std::vector<Quiet> quiet;
    {
        const std::lock_guard lock{mutex_};
        for (const auto& [pool, view] : pools_) {
            if (view->asked <= quiet_since && view->changed != view->read_changed) {
                quiet.push_back({pool, view, view->changed});
            }
        }
    }
    for (const auto& [pool, view, changed] : quiet) {
        PoolWindows counts{source_of_(pool, view->size)};
        std::vector<WindowRange> loaded;
        {
            const std::lock_guard planning{view->planning};
            loaded = view->counts.loaded();
        }
        for (const WindowRange& range : loaded) {
            counts.held(range.first);
        }
        const std::lock_guard planning{view->planning};
        heed_notes(*view);  // Claims that were given up.
        const std::lock_guard lock{mutex_};
        // Whatever came in meanwhile may be newer: then there is another time.
        if (view->changed == changed && !counts.failure()) {
            view->counts = std::move(counts);
            view->read_changed = changed;
        }
    }
}

std::shared_ptr<WindowMirror::PoolView> WindowMirror::view_of(const PoolName& pool, Duration window_size) {
    auto& view = pools_[pool];
    if (view == nullptr || view->size != window_size || view->is_large) {
        view = std::make_shared<PoolView>(window_size, source_of_(pool, window_size));
    }
    return view;
}

WindowMirror::PoolView* WindowMirror::view_of(const OpenClaim& open) {
    const auto view = pools_.find(open.pool);
    return view != pools_.end() && view->second == open.view ? open.view.get() : nullptr;
}

void WindowMirror::release(const Claim& claim) {
    const std::lock_guard lock{mutex_};
    if (PoolView* view = view_of(*claim.open_)) {
        for (const WindowIndex window : claim.planned) {
            note(claim.open_->pool, *view, {window, Note::Kind::Unclaimed});
        }
    }
    open_.erase(claim.open_);
}

}  // namespace sluice::postgres
