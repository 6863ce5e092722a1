#pragma once

#include <functional>
#include <mutex>

#include "app/slots/slot_store.hpp"

namespace sluice::postgres {

// When the earliest work is due that came into lane Due by these commands; Instant::max(): none did.
Instant earliest_due(std::span<const SlotReply> replies);

// Tells whoever sends work that some is due at a time, or, by a time gone by, that anything may have changed.
// Thread safety: all of it.
class DueBell {
public:
    using Call = std::function<void(Instant due)>;

    // Null: nobody is told any longer; when this returns no call is under way.
    void answer_with(Call call) {
        const std::lock_guard lock{mutex_};
        call_ = std::move(call);
    }
    void ring(Instant due) {
        const std::lock_guard lock{mutex_};
        if (call_) {
            call_(due);
        }
    }

private:
    std::mutex mutex_;
    Call call_;  // Guarded by mutex_.
};

}  // namespace sluice::postgres
