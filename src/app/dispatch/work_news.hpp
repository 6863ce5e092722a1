#pragma once

#include <functional>
#include <mutex>

#include "app/dispatch/work_store.hpp"

namespace sluice {

// Tells somebody that there is something to look at.
// Thread safety: all of it.
class WorkNews {
public:
    // When this returns no call to the one before is under way.
    void on_news(std::function<void(const WorkTidings&)> call) {
        const std::lock_guard lock{mutex_};
        call_ = std::move(call);
    }
    // REQUIRES: the store is not locked.
    void tell(const WorkTidings& tidings = {}) {
        const std::lock_guard lock{mutex_};
        if (call_) {
            call_(tidings);
        }
    }

private:
    std::mutex mutex_;
    std::function<void(const WorkTidings&)> call_;  // Guarded by mutex_, also while it runs.
};

// Tells at its end, if there was something. To be made before the store is locked.
class NewsAtEnd {
public:
    explicit NewsAtEnd(WorkNews& news) : news_{news} {}
    ~NewsAtEnd() {
        if (due_) {
            news_.tell();
        }
    }
    NewsAtEnd(const NewsAtEnd&) = delete;
    NewsAtEnd& operator=(const NewsAtEnd&) = delete;

    void note(bool is_news) { due_ = due_ || is_news; }

private:
    WorkNews& news_;
    bool due_ = false;
};

}  // namespace sluice
