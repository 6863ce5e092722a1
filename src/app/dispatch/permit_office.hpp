#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/dispatch/dispatch_desk.hpp"
#include "base/unique_function.hpp"

namespace sluice {

// A place at a gate for a call that somebody outside makes.
struct GivenPermit {
    std::string id;
    Instant not_before;  // By the clock of this process. The call begins then, or at most kValid later.
};

// Why there is none.
struct PermitRefusal {
    enum class Why : std::uint8_t {
        NoGate,       // The subject has no rate.
        NotKeeper,    // Another process gives permits.
        Busy,         // All places of the next moments are taken.
        Overloaded,   // Too many wait.
        Unavailable,  // The store could not note it, or the process ends.
    };
    Why why;
    Duration retry_after{1'000};
};

// Gives the places of gates to others who make calls, beside the works that pass there: durable before they
// are given, so that whoever keeps the gates next counts them.
// Its asker's completions run on the worker of whoever serves, or within the call.
// Thread safety: ask(), end() and stop() from any thread; all the rest by one worker.
class PermitOffice {
public:
    // A call may begin so long after `not_before`.
    static constexpr Duration kValid{100};
    // One that nobody says is over counts as over so long after that, and a second.
    static constexpr std::chrono::seconds kCallMax{15};
    // So long one waits for a place, at most; and so many.
    static constexpr std::chrono::seconds kPatience{2};
    static constexpr std::size_t kWaitingMax = 1024;
    static constexpr std::size_t kIdSize = 32;  // Hexadecimal digits.

    // `wake` is called when there is something to serve.
    PermitOffice(std::uint64_t seed, const Clock& clock, const Runtime& runtime, std::function<void()> wake);

    using Asked = UniqueFunction<void(Result<GivenPermit, PermitRefusal>)>;
    // REQUIRES: a pool or a host.
    void ask(Subject gate, Asked done);
    // True: the call of the permit is over, and the store knows. Who is not known is over.
    using Ended = UniqueFunction<void(bool)>;
    void end(std::string id, Ended done);
    // Refuses all that waits, and whoever comes.
    void stop();

    struct Counter {
        WorkStore& store;
        DispatchDesk& desk;
        std::optional<Fence> fence;  // Nothing: this process is not the keeper.
    };
    // Serves all that can be. False: the fence is not in force any more.
    Result<bool, StoreError> serve(const Counter& counter);
    // Nobody can be served.
    void refuse_all();
    // When somebody who waits is to be served; SteadyTime::max(): nobody waits.
    [[nodiscard]] SteadyTime next_serve() const;

private:
    struct Ask {
        Subject gate;
        Asked done;
        SteadyTime give_up;
        SteadyTime again = SteadyTime::min();
    };
    struct End {
        std::string id;
        Ended done;
    };
    struct Grant {
        Ask ask;
        GatePlace place;
        std::string id;
    };

    Result<void, StoreError> end_calls(const Counter& counter);
    // Those for whom there is a place. The others wait, or are refused.
    std::vector<Grant> find_places(const Counter& counter);
    Result<bool, StoreError> give(const Counter& counter, std::vector<Grant> grants);
    GivenPermit hand_over(const Counter& counter, const Grant& grant);
    static void refuse(Ask& ask, PermitRefusal refusal) { ask.done(Unexpected{refusal}); }
    std::string new_id();

    const Clock& clock_;
    const Runtime& runtime_;
    const std::function<void()> wake_;
    Random random_;
    mutable std::mutex mutex_;
    std::deque<Ask> asks_;  // Guarded by mutex_, like the next two.
    std::vector<End> ends_;
    bool stopped_ = false;
};

}  // namespace sluice
