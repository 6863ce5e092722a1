#include "store/postgres/client/server_clock.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kReadClock{"read_clock", "select (sluice.limit_clock() + 999) / 1000"};
constexpr std::chrono::seconds kGoodFor{1};

}  // namespace

std::optional<Instant> ServerClock::known_now() {
    const std::lock_guard lock{mutex_};
    if (!last_) {
        return std::nullopt;
    }
    const auto passed = std::chrono::ceil<Duration>(Steady::now() - last_->asked);
    const bool agrees = std::chrono::abs(own_.now() - last_->own - passed) < kGoodFor;
    return passed < kGoodFor && agrees ? std::optional{last_->said + passed} : std::nullopt;
}

Result<Instant, Failure> ServerClock::now() {
    if (const auto known = known_now()) {
        return *known;
    }
    const auto lease = pool_.take(ConnectionSource::Clock::now() + kConnectionPatience);
    if (!lease) {
        return Unexpected{lease.error()};
    }
    const auto asked = Steady::now();
    const auto rows = (*lease)->run(kReadClock);
    if (!rows) {
        return Unexpected{rows.error()};
    }
    const auto said = rows->empty() ? std::nullopt : rows->number(0, 0);
    if (!said) {
        return Unexpected{Failure{kDamagedRow, "the server's clock cannot be read"}};
    }
    const Reading reading{asked, own_.now(), Instant{Duration{*said}}};
    const std::lock_guard lock{mutex_};
    last_ = reading;
    return reading.said;
}

}  // namespace sluice::postgres
