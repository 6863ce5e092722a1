#include "store/rocks/slots/forgetting.hpp"

#include <string>

#include <rocksdb/compaction_filter.h>
#include <rocksdb/slice.h>

#include "store/rocks/slots/slot_codec.hpp"

namespace sluice::rocks {
namespace {

class Forgetting final : public rocksdb::CompactionFilter {
public:
    explicit Forgetting(Instant horizon) : horizon_{horizon} {}
    const char* Name() const override { return "sluice.Forgetting"; }
    // NOLINTNEXTLINE(readability-function-size): the parameters are RocksDB's.
    bool Filter(int /*level*/, const rocksdb::Slice& /*key*/, const rocksdb::Slice& value,
                std::string* /*changed*/, bool* /*is_changed*/) const override {
        const auto scheduled = forgettable_at({value.data(), value.size()});
        return scheduled && *scheduled < horizon_;
    }

private:
    const Instant horizon_;
};

class ForgettingFactory final : public rocksdb::CompactionFilterFactory {
public:
    explicit ForgettingFactory(std::shared_ptr<const Horizon> horizon) : horizon_{std::move(horizon)} {}
    const char* Name() const override { return "sluice.ForgettingFactory"; }
    std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
        const rocksdb::CompactionFilter::Context& /*context*/) override {
        // RocksDB would ask about every row it sorts; without a horizon there is nothing to drop.
        const Instant horizon = horizon_->get();
        return horizon > Instant{} ? std::make_unique<Forgetting>(horizon) : nullptr;
    }

private:
    const std::shared_ptr<const Horizon> horizon_;
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> make_forgetting(std::shared_ptr<const Horizon> horizon) {
    return std::make_shared<ForgettingFactory>(std::move(horizon));
}

}  // namespace sluice::rocks
