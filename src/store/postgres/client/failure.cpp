#include "store/postgres/client/failure.hpp"

namespace sluice::postgres {

bool Failure::retryable() const {
    return connection_lost || outcome_unknown || means(Meaning::Passing) || means(Meaning::DiskFull) ||
           means(Meaning::ReadOnly) || means(Meaning::Held);
}

std::string cannot_connect(const Failure& failure) {
    return is_own(failure.sqlstate) ? failure.message : "PostgreSQL cannot be reached: " + failure.message;
}

}  // namespace sluice::postgres
