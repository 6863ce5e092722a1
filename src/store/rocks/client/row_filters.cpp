#include <algorithm>

#include <rocksdb/slice.h>

#include "store/rocks/client/row_filters_internal.hpp"

namespace sluice::rocks {
namespace {

class RowFilter final : public rocksdb::CompactionFilter {
public:
    RowFilter(Instant before, ForgetTime time) : before_{before}, time_{time} {}
    const char* Name() const override { return "sluice.RowFilter"; }
    // NOLINTNEXTLINE(readability-function-size): the parameters are RocksDB's.
    bool Filter(int /*level*/, const rocksdb::Slice& /*key*/, const rocksdb::Slice& value,
                std::string* /*changed*/, bool* /*is_changed*/) const override {
        const auto time = time_({value.data(), value.size()});
        return time && *time < before_;
    }
    // A note alone says nothing about the row that it belongs to.
    bool FilterMergeOperand(int /*level*/, const rocksdb::Slice& /*key*/,
                            const rocksdb::Slice& /*operand*/) const override {
        return false;
    }

private:
    const Instant before_;
    const ForgetTime time_;
};

class RowFilterFactory final : public rocksdb::CompactionFilterFactory {
public:
    RowFilterFactory(std::shared_ptr<const Horizon> horizon, ForgetTime time,
                     std::optional<Duration> retention)
        : horizon_{std::move(horizon)}, time_{time}, retention_{retention} {}
    const char* Name() const override { return "sluice.RowFilterFactory"; }
    std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
        const rocksdb::CompactionFilter::Context& /*context*/) override {
        Instant before = horizon_ ? horizon_->get() : Instant{};
        if (retention_) {
            before = std::max(before, SystemClock{}.now() - *retention_);
        }
        // RocksDB would ask about every row it sorts.
        return before > Instant{} ? std::make_unique<RowFilter>(before, time_) : nullptr;
    }

private:
    const std::shared_ptr<const Horizon> horizon_;
    const ForgetTime time_;
    const std::optional<Duration> retention_;
};

class Appending final : public rocksdb::AssociativeMergeOperator {
public:
    const char* Name() const override { return "sluice.Appending"; }
    // NOLINTNEXTLINE(readability-function-size): the parameters are RocksDB's.
    bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* before, const rocksdb::Slice& value,
               std::string* after, rocksdb::Logger* /*logger*/) const override {
        after->clear();
        if (before != nullptr) {
            after->append(before->data(), before->size());
        }
        after->append(value.data(), value.size());
        return true;
    }
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> make_row_filter(std::shared_ptr<const Horizon> horizon,
                                                                  ForgetTime time,
                                                                  std::optional<Duration> retention) {
    return std::make_shared<RowFilterFactory>(std::move(horizon), time, retention);
}

std::shared_ptr<rocksdb::MergeOperator> make_appending() { return std::make_shared<Appending>(); }

}  // namespace sluice::rocks
