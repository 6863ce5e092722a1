#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include <rocksdb/compaction_filter.h>
#include <rocksdb/merge_operator.h>

#include "store/rocks/client/horizon.hpp"

namespace sluice::rocks {

// Reads from a row when it may be forgotten: once the horizon lies behind that. Nothing: never.
using ForgetTime = std::optional<Instant> (*)(std::string_view);

// Drops rows that lie before the horizon, if there is one, or that are older than `retention`.
std::shared_ptr<rocksdb::CompactionFilterFactory> make_row_filter(
    std::shared_ptr<const Horizon> horizon, ForgetTime time,
    std::optional<Duration> retention = std::nullopt);

// Puts what is added behind what is there.
std::shared_ptr<rocksdb::MergeOperator> make_appending();

}  // namespace sluice::rocks
