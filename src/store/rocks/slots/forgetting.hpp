#pragma once

#include <atomic>
#include <memory>

#include "base/time.hpp"

namespace rocksdb {
class CompactionFilterFactory;
}

namespace sluice::rocks {

// The horizon that is stored, for those who read rows and those who sort them.
// Thread safety: all of it.
class Horizon {
public:
    [[nodiscard]] Instant get() const { return Instant{Duration{at_.load(std::memory_order_acquire)}}; }
    // REQUIRES: it is durable, because rows go for good by it.
    void set(Instant horizon) { at_.store(horizon.time_since_epoch().count(), std::memory_order_release); }

private:
    std::atomic<Duration::rep> at_ = 0;
};

// Drops slots that were scheduled before the horizon when RocksDB sorts their file anyway.
std::shared_ptr<rocksdb::CompactionFilterFactory> make_forgetting(std::shared_ptr<const Horizon> horizon);

}  // namespace sluice::rocks
