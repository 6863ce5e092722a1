#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "app/slots/pool_windows.hpp"

namespace sluice::postgres {

// What one event asks of a pool.
struct PlacedAsk {
    SlotPolicy policy;
    SlotAsk ask;
};

// What this node believes of the counters of every pool: where to look for room, never whether there is any.
// That is decided by the counters under their locks; a belief that was wrong costs another look. So a search
// is flat however many full windows lie in front of it, for every cap and weight, whatever old index entries
// the server has to keep.
// A window that one worker of this node is about to lock is claimed: the others look further on instead of
// meeting at it. A view that is forgotten while windows are claimed forgets the claims too; workers may then
// meet, and the locks keep them apart.
// A belief that is too low costs a look. One that is too high hides a window, so it must not last: what comes
// in while a worker has its claim is newer than all that the worker saw, and stays; and when nobody has asked
// for a while, all is read again.
// Windows are read from the server by those who plan. Who plans in the same pool waits for that; nobody else
// does: what workers saw, gave up and heard of is only noted, and heeded by the next who plans.
// Thread safety: all of it.
class WindowMirror {
    struct PoolView;
    // A claim that was not given up yet, and what came in since it was made.
    struct OpenClaim {
        PoolName pool;
        std::shared_ptr<PoolView> view;  // That it was made in; another may stand in its place by now.
        std::unordered_set<WindowIndex> overtaken{};
    };

public:
    using SteadyTime = std::chrono::steady_clock::time_point;
    // Reads the counters of a pool as they are committed.
    using SourceOf = std::function<CountSource(const PoolName&, Duration window_size)>;
    explicit WindowMirror(SourceOf source_of);
    ~WindowMirror();

    // The windows that a worker wants to lock; given up again at its end.
    class Claim {
    public:
        Claim(Claim&& other) noexcept;
        Claim& operator=(Claim&&) = delete;
        ~Claim();

        std::vector<WindowIndex> planned;  // Where the asks are believed to fit, ascending. Claimed.
        std::vector<WindowIndex> spare;    // What may do instead, ascending. Not claimed.
        // From the first planned window to this one, whatever is neither planned nor spare is believed full
        // for all of the asks, or taken.
        WindowIndex horizon = 0;
        std::vector<std::optional<WindowIndex>> plan;  // For each ask.
        // Asks, by their number, for which no unclaimed window is believed to have room.
        std::vector<std::size_t> unplaced;

    private:
        friend class WindowMirror;
        Claim(WindowMirror& mirror, std::list<OpenClaim>::iterator open) : mirror_{&mirror}, open_{open} {}

        WindowMirror* mirror_;  // Null after a move.
        std::list<OpenClaim>::iterator open_;
    };

    // No window of `avoided` is claimed or spare.
    // REQUIRES: at least one ask; all of one pool, and so of one window size.
    Result<Claim, StoreError> claim(const PoolName& pool, std::span<const PlacedAsk> asks,
                                    const std::set<WindowIndex>& avoided);

    // What windows were seen to hold since the claim was made. What came in meanwhile is newer.
    void learn(const Claim& claim, const std::map<WindowIndex, Places>& seen);
    // Nothing that the claim is made of had room: much has changed, and is read again when it is needed.
    void doubt(const Claim& claim);
    // A window was seen to have room again. It may have been taken since.
    void learn_room(const PoolName& pool, Instant window_start, Places places);
    // Everything is read again when it is needed.
    void forget(const PoolName& pool);
    void forget_all();
    // Reads again, without the lock, what pools are believed to hold that nobody has asked for since
    // `quiet_since`. Once is enough for each time that they are quiet.
    void read_again(SteadyTime quiet_since);

private:
    // What is to be noted of a window.
    struct Note {
        enum class Kind : std::uint8_t { Holds, HasRoom, Unclaimed };
        WindowIndex window;
        Kind kind;
        Places places = 0;
    };

    // REQUIRES for all of these: mutex_ is held.
    std::shared_ptr<PoolView> view_of(const PoolName& pool, Duration window_size);
    // Null when it is not in use any more.
    PoolView* view_of(const OpenClaim& open);
    void note(const PoolName& pool, PoolView& view, Note note);

    // REQUIRES: the view's lock is held.
    void heed_notes(PoolView& view);
    void release(const Claim& claim);

    const SourceOf source_of_;
    // Taken behind the lock of a view, never before it, and never held while windows are read.
    std::mutex mutex_;
    std::map<PoolName, std::shared_ptr<PoolView>> pools_;  // Guarded by mutex_.
    std::list<OpenClaim> open_;                            // Guarded by mutex_. As many as workers.
    std::uint64_t changes_ = 0;                            // Guarded by mutex_. Of all views.
};

}  // namespace sluice::postgres
