#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/dispatch/dispatch_terms.hpp"
#include "app/store_state.hpp"
#include "base/result.hpp"
#include "core/dispatch/window_share.hpp"
#include "core/dispatch/work.hpp"

namespace sluice {

// One line of the audit: an attempt to send, or what somebody did.
struct AuditLine {
    enum class Action : std::uint8_t {
        Attempt = 1,   // Was sent, or was to be.
        Lost = 2,      // A claim ended without an outcome: whoever held it died, or could not store it.
        GivenUp = 3,   // Became dead or expired without being sent.
        Replayed = 4,  // The rest: somebody did it.
        Cancelled = 5,
        Moved = 6,
        Paused = 7,
        Resumed = 8,
        Rated = 9,  // A rate was given or taken away.
    };
    Action action = Action::Attempt;
    Instant at{};               // Stored by the store's own clock.
    std::uint32_t attempt = 0;  // The number of the attempt; 0: none.
    std::uint32_t status = 0;   // The HTTP status; 0: none.
    Duration latency{};         // From the first byte to the answer.
    std::string by{};           // The node, or who did it: an address and the name of a token.
    std::string error{};        // One sentence. Empty: it went well.
    std::string excerpt{};      // The beginning of the answer, with control characters escaped.

    bool operator==(const AuditLine&) const = default;
};
inline constexpr std::size_t kExcerptMax = 256;

// A work whose time has come, as a judge sees it.
struct DueWork {
    const Work& work;
    WindowSends sends;  // Of its pool, in the window that is now, with what this take has claimed so far.
    Lateness lateness;
    const DispatchTerms& terms;
    Instant now;           // By the clock of the store.
    Instant window_end{};  // When the window of `sends` is over, by the same clock.
};

// Of the keeper of gates that somebody was: a later keeper's is greater.
using Fence = std::uint64_t;

// What becomes of it.
struct ClaimIt {
    Duration lease;  // Ends by itself then, and the work is looked at again in lane Claimed.
    // It passes a gate, so that only the keeper may claim it: by another fence than the one in force the
    // whole take does nothing.
    std::optional<Fence> fence{};
};
struct SetAside {
    Lane lane;
    bool parked = false;  // Its state becomes Parked; otherwise it is Pending, or Retrying if it was tried.
};
struct TryAgain {  // Becomes Retrying, in lane Due.
    Duration pause;
    AuditLine line;
};
struct GiveUp {  // Becomes Dead or Expired.
    WorkState state;
    AuditLine line;
};
struct LeaveIt {};  // It stays as it is, and so do all behind it: ends the take.
using WorkVerdict = std::variant<ClaimIt, SetAside, TryAgain, GiveUp, LeaveIt>;

struct ClaimedWork {
    Work work;
    WorkOrder order;
};

struct Taken {
    std::vector<ClaimedWork> claimed;  // In the order in which they were judged.
    std::set<Lane> filled;             // Lanes in which something was set aside.
    // When the lane has something to look at again: a time gone by if more is due now; absent: it is empty.
    std::optional<Instant> next;
    Instant now{};  // By the clock of the store.
    // Somebody else is the keeper by now: nothing was done, and nothing above says anything.
    bool fenced = false;
};

// Of all processes that share a store one is the keeper of its gates: it alone claims work that passes one.
struct Keeping {
    Fence fence;
    // From before it was asked for; by a clock that also runs while the machine sleeps. It must be asked for
    // again before that. Duration::max(): nobody else can be.
    Duration lasts;
};

// A permit that was given to somebody outside, who makes the call: durable before it is given.
struct OutsidePermit {
    std::string id;
    Subject gate;   // A pool or a host.
    Duration left;  // After that it is over by itself; not negative.
};

// What the store tells of by itself.
struct WorkTidings {
    // Lanes that were filled by other processes. With none: something is in lane Due or Dead, or terms
    // changed.
    std::vector<Lane> filled{};
};

// The outcome of a claim.
struct Settlement {
    EventId event_id;
    std::uint32_t attempt;  // Of the claim. If the work has another one by now only the line is kept.
    struct Done {};
    struct Again {
        Duration pause;
    };
    struct Failed {};
    struct Parked {  // Waits in the lane of its endpoint, which is put on hold in the same commit.
        std::string by;
    };
    // It was never sent, and does not count as an attempt: waits in lane Due, for now.
    struct NotSent {};
    std::variant<Done, Again, Failed, Parked, NotSent> after;
    AuditLine line{};  // Not kept for NotSent.
};

// A claim whose outcome is not known.
struct OpenClaim {
    EventId event_id;
    std::uint32_t attempt;
    PoolName pool;
    Route route;
    Duration left;  // Until it ends by itself; not negative.
};

struct WorkStory {
    Work work;
    WorkOrder order;
    std::vector<AuditLine> audit;  // Oldest first; the last kAuditShownMax.
};
inline constexpr std::size_t kAuditShownMax = 100;

struct WorkFilter {
    std::optional<WorkState> state{};
    std::optional<ConfigName> config{};
    std::optional<std::string> host{};
    // Where the page before ended. Empty: from the start.
    std::string after{};
    std::size_t limit = 100;  // 1 to kWorkPageMax.
};
inline constexpr std::size_t kWorkPageMax = 1000;

struct WorkPage {
    std::vector<Work> works;
    std::string after{};  // For the next page. Empty: this was the last one.
};

// Which of the dead are to be tried again: all that match everything that is given. REQUIRES: something is.
struct ReplayRequest {
    std::vector<EventId> event_ids{};
    std::optional<std::string> host{};
    std::optional<Instant> since{};  // Dead since then, or later.
    std::optional<Instant> until{};  // And before that.
};

struct LaneCount {
    LaneKind kind;
    std::uint64_t works;
};

// Keeps works, their lanes and their audit, durably, with the slots that they belong to. Slots bring works
// along, cancel and move them, by SlotStore.
// It promises, whatever runs at the same time and whenever it is killed: no work is lost or in two lanes;
// what was claimed is known to be, before anybody hears of it; a window never sends more than judges allowed
// when they saw all that was claimed in it.
// Every call blocks until it is done. Thread safety: all of it.
class WorkStore {
public:
    virtual ~WorkStore() = default;

    // Other processes may use it at the same time. Always the same answer, at once.
    [[nodiscard]] virtual bool is_shared() const = 0;

    using Judge = std::function<WorkVerdict(const DueWork&)>;
    // Goes through the works of a lane whose time has come, the earliest first, at most `most` of them, and
    // does with each what `judge` says; all of it is durable, at once, when this returns. After an error it
    // is not known whether anything was done; claims that were made end by themselves.
    // The judge must not call the store.
    virtual Result<Taken, StoreError> take(const Lane& lane, std::size_t most, const Judge& judge) = 0;

    // Durable when it returns. Those whose claim was ended by others only leave their line.
    virtual Result<void, StoreError> settle(std::span<const Settlement> settlements) = 0;

    // Every lane in which something stands, but Dead.
    virtual Result<std::vector<Lane>, StoreError> lanes() = 0;
    // Of all processes.
    virtual Result<std::vector<OpenClaim>, StoreError> open_claims() = 0;

    // Makes this process the keeper, or keeps it so. Nothing: somebody else is. `node` tells processes apart.
    virtual Result<std::optional<Keeping>, StoreError> keep(const std::string& node) = 0;
    // It is not the keeper any more, so that another can be at once. Does nothing under another fence.
    virtual void let_go(Fence fence) = 0;

    // Permits of the keeper, for calls that others make. False: the fence is not in force; nothing was
    // stored.
    virtual Result<bool, StoreError> note_permits(Fence fence, std::span<const OutsidePermit> permits) = 0;
    // Their calls are over. Who is not known any more is passed over.
    virtual Result<void, StoreError> drop_permits(std::span<const std::string> ids) = 0;
    virtual Result<std::vector<OutsidePermit>, StoreError> outside_permits() = 0;

    virtual Result<TermsRef, StoreError> terms() = 0;
    // Puts a subject on hold, or lets it go. Again changes nothing.
    virtual Result<void, StoreError> hold(const Subject& subject, const Hold& hold) = 0;
    virtual Result<void, StoreError> release(const Subject& subject, const std::string& by) = 0;
    // Gives a pool or a host a rate; nothing: takes it away. REQUIRES: no other kind of subject.
    virtual Result<void, StoreError> put_rate(const Subject& subject, std::optional<GateTerms> rate,
                                              const std::string& by) = 0;

    // Nothing: the event brought no work, or is unknown.
    virtual Result<std::optional<WorkStory>, StoreError> find(const EventId& event_id) = 0;
    virtual Result<WorkPage, StoreError> list(const WorkFilter& filter) = 0;
    // Those that are dead or expired wait in lane Due again, for now. How many did.
    virtual Result<std::uint64_t, StoreError> replay(const ReplayRequest& request, const std::string& by) = 0;
    // How many works stand in lanes of each kind. May be a few seconds old.
    virtual Result<std::vector<LaneCount>, StoreError> counts() = 0;

    // From now on `call` is told what is new, soon after the commit and never while the store is locked. It
    // is called by any thread, and must be quick. Null: no longer; when this returns no call is under way.
    virtual void on_news(std::function<void(const WorkTidings&)> call) = 0;
};

}  // namespace sluice
