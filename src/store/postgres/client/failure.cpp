#include "store/postgres/client/failure.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice::postgres {
namespace {

// 57P01 to 57P03: stopped, crashed, starting. 25006: a standby, after a failover.
constexpr std::array<std::string_view, 8> kPassing{"40001", "40P01", "55P03", "57014",
                                                   "57P01", "57P02", "57P03", "25006"};

}  // namespace

bool Failure::retryable() const {
    if (connection_lost || outcome_unknown || sqlstate.starts_with("08") || sqlstate.starts_with("53")) {
        return true;
    }
    return std::find(kPassing.begin(), kPassing.end(), sqlstate) != kPassing.end();
}

std::string cannot_connect(const Failure& failure) {
    return failure.sqlstate.starts_with("SL") ? failure.message
                                              : "PostgreSQL cannot be reached: " + failure.message;
}

}  // namespace sluice::postgres
