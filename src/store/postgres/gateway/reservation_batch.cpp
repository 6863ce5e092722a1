#include "store/postgres/gateway/reservation_batch.hpp"

#include <algorithm>
#include <array>

#include "base/hex.hpp"

namespace sluice::postgres {
namespace {

// What the columns of a reply mean: see type sluice.gateway_reply.
constexpr std::size_t kVerdict = 0;
constexpr std::size_t kFault = 1;
constexpr std::size_t kMessage = 2;
constexpr std::size_t kWindow = 3;
constexpr std::size_t kExpires = 4;
constexpr std::size_t kRetry = 5;

constexpr std::int64_t kHeld = 1;  // fault_cd

constexpr auto kVerdicts =
    std::to_array({Reserved::Verdict::Granted, Reserved::Verdict::Standing, Reserved::Verdict::Accepted,
                   Reserved::Verdict::Denied, Reserved::Verdict::UnknownUser});

GatewayFault unavailable(std::string what) { return {GatewayFault::Kind::Unavailable, std::move(what)}; }

template <class NameOfIt>
void add_name(ArrayText& array, const std::optional<NameOfIt>& name) {
    if (name) {
        array.add(name->text());
    } else {
        array.add_null();
    }
}

}  // namespace

std::string bytes_of(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 2; i + 1 < text.size(); i += 2) {
        bytes += static_cast<char>(hex_value(text[i]).value_or(0) << 4U | hex_value(text[i + 1]).value_or(0));
    }
    return bytes;
}

Instant instant_of(std::int64_t ms) { return Instant{Duration{ms}}; }

ReservationBatch::ReservationBatch(std::span<const SendRequest> requests) : requests_{requests} {
    std::map<std::pair<UserId, RequestId>, std::int64_t> known;
    for (const SendRequest& request : requests) {
        const MessageDraft& draft = request.draft;
        users_.try_emplace(draft.user);
        const auto next = static_cast<std::int64_t>(owners_.size()) + 1;
        const std::int64_t place =
            draft.request ? known.try_emplace({draft.user, *draft.request}, next).first->second : next;
        if (place == next) {
            owners_.push_back(draft.user);
        }
        places_.push_back(place);
    }
    std::int64_t place = 0;
    for (auto& [user, at] : users_) {
        at = ++place;
    }
}

KeyTurns::Keys ReservationBatch::users() const {
    KeyTurns::Keys keys;
    for (const auto& [user, place] : users_) {
        keys.push_back(turn_of(user));
    }
    return keys;
}

Parameters ReservationBatch::parameters(Handover handover, bool patient) const {
    ArrayText users;
    for (const auto& [user, place] : users_) {
        users.add(std::int64_t{user.number});
    }
    ArrayText owners;
    ArrayText names;
    ArrayText places;
    ArrayText ids;
    ArrayText validities;
    ArrayText texts;
    ArrayText to;
    ArrayText from;
    const bool outbox = handover == Handover::Outbox;
    std::int64_t named = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        const MessageDraft& draft = requests_[i].draft;
        if (places_[i] > named) {
            named = places_[i];
            owners.add(users_.at(draft.user));
            add_name(names, draft.request);
        }
        places.add(places_[i]);
        ids.add(requests_[i].id.text());
        if (draft.validity) {
            validities.add(std::clamp(*draft.validity, Duration{0}, kTenYears).count());
        } else {
            validities.add_null();
        }
        if (outbox) {
            texts.add(bytes_text(draft.text));
            add_name(to, draft.to);
            add_name(from, draft.from);
        }
    }
    Parameters parameters;
    parameters.add(users).add(owners).add(names).add(places).add(ids).add(validities);
    parameters.add(texts).add(to).add(from).add_boolean(outbox).add_boolean(patient);
    return parameters;
}

ReserveReply read_reply(const Rows& rows, std::size_t row, UserId user) {
    const std::string whose = "of user " + std::to_string(user.number);
    if (row >= rows.size()) {
        return Unexpected{unavailable("PostgreSQL gave no answer for a message " + whose)};
    }
    if (const auto fault = rows.number(row, kFault)) {
        return Unexpected{unavailable(*fault == kHeld ? "another transaction holds a row " + whose
                                                      : "the row " + whose + " cannot be understood")};
    }
    const auto verdict = static_cast<std::size_t>(rows.number(row, kVerdict).value_or(-1));
    if (verdict >= kVerdicts.size()) {
        return Unexpected{unavailable("PostgreSQL gave an answer that cannot be understood")};
    }
    Reserved reserved{kVerdicts[verdict]};
    reserved.id = MessageId::make(rows.text(row, kMessage));
    reserved.window_start = instant_of(rows.number(row, kWindow).value_or(0));
    if (const auto expires = rows.number(row, kExpires)) {
        reserved.expires = instant_of(*expires);
    }
    reserved.retry_after = Duration{rows.number(row, kRetry).value_or(0)};
    return reserved;
}

bool is_held(const Rows& rows, std::size_t row) {
    return row < rows.size() && rows.number(row, kFault) == kHeld;
}

}  // namespace sluice::postgres
