#include "store/postgres/slots/store_health.hpp"

#include <utility>

namespace sluice::postgres {
namespace {

using std::chrono::steady_clock;

constexpr const char* kComponent = "StoreHealth";
constexpr Statement kProve{"prove_writing", "select clock_ms, durable from sluice.prove_writing()"};

}  // namespace

std::optional<std::string> clock_sentence(Duration ahead) {
    if (ahead <= StoreHealth::kClockMax && ahead >= -StoreHealth::kClockMax) {
        return std::nullopt;
    }
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(ahead > Duration{0} ? ahead : -ahead);
    return "this node's clock is " + std::to_string(seconds.count()) + " s " +
           (ahead > Duration{0} ? "ahead of" : "behind") + " PostgreSQL's";
}

Result<StoreHealth::Proof, Failure> StoreHealth::prove(Connection& connection, const Clock& clock) {
    const Instant before = clock.now();
    const auto rows = connection.run(kProve);
    const Instant after = clock.now();
    if (!rows) {
        return Unexpected{rows.error()};
    }
    Proof proof;
    const Instant there{Duration{rows->empty() ? 0 : rows->number(0, 0).value_or(0)}};
    if (there < before) {
        proof.clock_difference = before - there;
    } else if (there > after) {
        proof.clock_difference = after - there;
    }
    proof.durable = !rows->empty() && rows->boolean(0, 1).value_or(true);
    return proof;
}

bool StoreHealth::examine(Connection& connection) {
    const auto proof = prove(connection, clock_);
    const std::lock_guard lock{mutex_};
    proof ? note(*proof) : note(proof.error());
    return proof || !proof.error().connection_lost;
}

void StoreHealth::note(const Proof& proof) {
    proven_at_ = steady_clock::now();
    if (std::exchange(failing_, false)) {
        log_.write(LogLevel::Info, kComponent, "PostgreSQL stores again");
    }
    const Proof before = std::exchange(proof_, proof);
    const auto differs = clock_sentence(proof.clock_difference);
    if (differs && !clock_sentence(before.clock_difference)) {
        log_.write(LogLevel::Warn, kComponent, *differs + "; set it right");
    } else if (!differs && clock_sentence(before.clock_difference)) {
        log_.write(LogLevel::Info, kComponent, "this node's clock agrees with PostgreSQL's again");
    }
    if (before.durable && !proof.durable) {
        log_.write(LogLevel::Warn, kComponent, kNotDurable);
    }
}

void StoreHealth::note(const Failure& failure) {
    if (!std::exchange(failing_, true)) {
        log_.write(LogLevel::Warn, kComponent,
                   "PostgreSQL cannot store anything at the moment: " + failure.described());
    }
    // One that waits for a standby that is away looks like a lost connection; the last proof is then old
    // soon.
    if (!failure.connection_lost) {
        proven_at_.reset();
    }
}

bool StoreHealth::writable() const {
    const std::lock_guard lock{mutex_};
    return proven_at_ && steady_clock::now() - *proven_at_ <= kLately;
}

std::string_view StoreHealth::concern() const {
    const std::lock_guard lock{mutex_};
    if (!proof_.durable) {
        return "not_durable";
    }
    return clock_sentence(proof_.clock_difference) ? "clock_differs" : "";
}

HealthFigures StoreHealth::figures() const {
    const bool can = writable();
    const std::lock_guard lock{mutex_};
    return {can, proof_.clock_difference};
}

}  // namespace sluice::postgres
