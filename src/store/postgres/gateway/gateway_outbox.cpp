#include "store/postgres/gateway/gateway_outbox.hpp"

#include <random>

#include "store/postgres/gateway/reservation_batch.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kClaim{"claim_outbox",
                           "select number_no, message_id, user_no, message_by, to_nm, from_nm, expires_ms"
                           " from sluice.claim_outbox($1, $2, $3::integer)"};
constexpr Statement kClose{"close_outbox", "select sluice.close_outbox($1, $2, $3, $4)"};

std::string new_name() {
    std::random_device device;
    return std::to_string(device()) + "-" + std::to_string(device());
}

std::optional<WaitingMessage> read_waiting(const Rows& rows, std::size_t row) {
    const auto number = rows.number(row, 0);
    auto id = MessageId::make(rows.text(row, 1));
    const auto user = rows.number(row, 2);
    if (!number || !id || !user) {
        return std::nullopt;
    }
    OutgoingMessage message{*std::move(id), {static_cast<std::int32_t>(*user)}, bytes_of(rows.text(row, 3))};
    message.to = Party::make(rows.text(row, 4));
    message.from = Party::make(rows.text(row, 5));
    if (const auto expires = rows.number(row, 6)) {
        message.expires = instant_of(*expires);
    }
    return WaitingMessage{static_cast<std::uint64_t>(*number), std::move(message)};
}

}  // namespace

GatewayOutbox::GatewayOutbox(ConnectionSource& pool, std::chrono::milliseconds claim, const Clock& own,
                             Log& log)
    : caller_{pool, log, "GatewayOutbox"}, clock_{pool, own}, claim_{claim}, sender_{new_name()} {}

Result<std::vector<WaitingMessage>, StoreError> GatewayOutbox::waiting(std::size_t most) {
    const auto rows = caller_.call(
        kClaim, Parameters{}.add(sender_).add(claim_.count()).add(static_cast<std::int64_t>(most)));
    if (!rows) {
        return Unexpected{StoreError{rows.error().described()}};
    }
    std::vector<WaitingMessage> messages;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        if (auto message = read_waiting(*rows, row)) {
            messages.push_back(*std::move(message));
        }
    }
    return messages;
}

Result<void, StoreError> GatewayOutbox::close(std::span<const OutboxClosing> closings) {
    ArrayText numbers;
    ArrayText ids;
    ArrayText states;
    for (const OutboxClosing& closing : closings) {
        numbers.add(static_cast<std::int64_t>(closing.number));
        ids.add(closing.id.text());
        states.add(static_cast<std::int64_t>(closing.state));
    }
    const auto once = [&](bool patient) {
        return caller_.call(kClose, Parameters{}.add(numbers).add(ids).add(states).add_boolean(patient));
    };
    auto rows = once(true);
    if (!rows && rows.error().contended()) {
        rows = once(false);
    }
    if (!rows) {
        return Unexpected{StoreError{rows.error().described()}};
    }
    const std::int64_t held = rows->number(0, 0).value_or(0);
    return held == 0 ? Result<void, StoreError>{}
                     : Unexpected{StoreError{"another transaction holds the rows of " + std::to_string(held) +
                                             " messages"}};
}

Instant GatewayOutbox::time() {
    const auto now = clock_.now();
    const std::lock_guard lock{mutex_};
    if (now) {
        last_time_ = *now;
    }
    return last_time_;
}

}  // namespace sluice::postgres
