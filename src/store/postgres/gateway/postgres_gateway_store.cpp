#include "store/postgres/gateway/postgres_gateway_store.hpp"

#include <algorithm>
#include <atomic>

#include "store/postgres/client/connection_share.hpp"
#include "store/postgres/client/patient_caller.hpp"
#include "store/postgres/gateway/gateway_outbox.hpp"
#include "store/postgres/gateway/gateway_sweeper.hpp"
#include "store/postgres/gateway/reservation_batch.hpp"

namespace sluice {
namespace {

using namespace postgres;
using std::chrono::steady_clock;

constexpr std::string_view kComponent = "PostgresGatewayStore";

constexpr Statement kComplaint{"gateway_complaint", "select sluice.gateway_complaint()"};
constexpr Statement kReserve{"reserve_messages",
                             "select verdict_cd, fault_cd, message_id, window_ms, expires_ms, retry_ms"
                             " from sluice.reserve_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"};
constexpr Statement kSettle{"settle_messages", "select sluice.settle_messages($1, $2, $3, $4, $5)"};
constexpr Statement kPutUser{"put_gateway_user",
                             "select sluice.put_gateway_user($1::integer, $2::integer, $3::integer)"};
constexpr Statement kFindUser{"find_gateway_user",
                              "select limit_ct, minutes_ct, sent_ct, window_ms, fault_cd"
                              " from sluice.find_gateway_user($1::integer)"};
constexpr Statement kFindMessage{"find_gateway_message",
                                 "select user_no, state_cd, queued_ms, changed_ms"
                                 " from sluice.find_gateway_message($1)"};
constexpr Statement kProve{"prove_gateway", "select durable from sluice.prove_writing()"};

GatewayFault unavailable(std::string what) { return {GatewayFault::Kind::Unavailable, std::move(what)}; }

GatewayFault fault_of(const Failure& failure) {
    if (failure.outcome_unknown) {
        return {GatewayFault::Kind::Unknown, failure.described()};
    }
    return {failure.means(Meaning::DiskFull) ? GatewayFault::Kind::Full : GatewayFault::Kind::Unavailable,
            failure.described()};
}

GatewayFault fault_of(const Failure& failure, const SendRequest& request) {
    GatewayFault fault = fault_of(failure);
    // A request that is known may have another name.
    if (fault.kind == GatewayFault::Kind::Unknown && !request.draft.request) {
        fault.id = request.id;
    }
    return fault;
}

// What is settled in one call. What nobody knows is left as it is.
Parameters settling(std::span<const MessageSettlement> settlements, bool patient) {
    ArrayText ids;
    ArrayText owners;
    ArrayText windows;
    ArrayText outcomes;
    for (const MessageSettlement& settlement : settlements) {
        if (settlement.outcome != Published::Unknown) {
            ids.add(settlement.id.text());
            owners.add(std::int64_t{settlement.user.number});
            windows.add(settlement.window_start.time_since_epoch().count());
            outcomes.add(std::int64_t{settlement.outcome == Published::NotPublished});
        }
    }
    Parameters parameters;
    parameters.add(ids).add(owners).add(windows).add(outcomes).add_boolean(patient);
    return parameters;
}

class Store final : public GatewayStore {
public:
    Store(std::shared_ptr<Server> server, const PostgresGatewayOptions& options, PostgresGatewayWorld world)
        : options_{options},
          turns_{options.row_wait},
          server_{std::move(server)},
          pool_{server_->pool(), {.lock_timeout = options.row_wait}},
          caller_{pool_, world.log, std::string{kComponent}},
          outbox_{pool_, options.claim, world.clock, world.log},
          sweeper_{pool_, world.log, server_->runtime()} {}

    std::vector<ReserveReply> reserve(std::span<const SendRequest> requests, Handover handover) override {
        std::vector<ReserveReply> replies;
        replies.reserve(requests.size());
        while (!requests.empty()) {
            const std::size_t count = std::min(requests.size(), options_.batch_max);
            reserve_part(requests.first(count), handover, replies);
            requests = requests.subspan(count);
        }
        return replies;
    }

    Result<void, StoreError> settle(std::span<const MessageSettlement> settlements) override {
        while (!settlements.empty()) {
            const std::size_t count = std::min(settlements.size(), options_.batch_max);
            if (auto settled = settle_part(settlements.first(count)); !settled) {
                return settled;
            }
            settlements = settlements.subspan(count);
        }
        return {};
    }

    Result<UserWindow, GatewayFault> put_user(UserId user, const UserTerms& terms) override {
        const auto turn = turns_.enter({turn_of(user)}, latest());
        const auto rows = write(kPutUser, Parameters{}
                                              .add(std::int64_t{user.number})
                                              .add(std::int64_t{terms.rate_limit})
                                              .add(std::int64_t{terms.minutes}));
        if (!rows) {
            return Unexpected{fault_of(rows.error())};
        }
        return UserWindow{terms, 0, instant_of(rows->number(0, 0).value_or(0))};
    }

    Result<std::optional<UserWindow>, GatewayFault> find_user(UserId user) override {
        const auto rows = read(kFindUser, Parameters{}.add(std::int64_t{user.number}));
        if (!rows) {
            return Unexpected{rows.error()};
        }
        if (rows->empty()) {
            return std::optional<UserWindow>{};
        }
        if (!rows->is_null(0, 4)) {
            return Unexpected{
                unavailable("the row of user " + std::to_string(user.number) + " cannot be understood")};
        }
        const auto number = [&](std::size_t column) {
            return static_cast<std::int32_t>(rows->number(0, column).value_or(0));
        };
        return std::optional{
            UserWindow{{number(0), number(1)}, number(2), instant_of(rows->number(0, 3).value_or(0))}};
    }

    Result<std::optional<MessageStory>, GatewayFault> find_message(const MessageId& id) override {
        const auto rows = read(kFindMessage, Parameters{}.add(id.text()));
        if (!rows) {
            return Unexpected{rows.error()};
        }
        if (rows->empty()) {
            return std::optional<MessageStory>{};
        }
        return std::optional{MessageStory{
            id, UserId{static_cast<std::int32_t>(rows->number(0, 0).value_or(0))},
            static_cast<MessageState>(rows->number(0, 1).value_or(0)),
            instant_of(rows->number(0, 2).value_or(0)), instant_of(rows->number(0, 3).value_or(0))}};
    }

    Outbox& outbox() override { return outbox_; }

    bool available() override {
        if (!server_->pool().ready()) {
            return false;
        }
        return !failed_.load(std::memory_order_relaxed) || write(kProve, {}).has_value();
    }

    // Nothing when it can be used; otherwise why not, in one sentence.
    std::optional<std::string> complaint() {
        const auto rows = caller_.call(kComplaint, {});
        if (!rows) {
            return cannot_connect(rows.error());
        }
        return rows->is_null(0, 0) ? std::nullopt : std::optional{std::string{rows->text(0, 0)}};
    }

private:
    // One call; a second that waits for nobody when one of the rows was held for too long. Users that were
    // held just now are not waited for again.
    void reserve_part(std::span<const SendRequest> requests, Handover handover,
                      std::vector<ReserveReply>& replies) {
        const ReservationBatch batch{requests};
        const auto turn = turns_.enter(batch.users(), latest());
        const bool patient = !turns_.are_held(turn.keys());
        auto rows = write(kReserve, batch.parameters(handover, patient));
        if (patient && !rows && rows.error().contended()) {
            rows = write(kReserve, batch.parameters(handover, false));
        }
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const UserId user = requests[i].draft.user;
            replies.push_back(rows ? read_reply(*rows, i, user)
                                   : Unexpected{fault_of(rows.error(), requests[i])});
            if (rows && is_held(*rows, i)) {
                turns_.found_held({turn_of(user)});
            }
        }
    }

    Result<void, StoreError> settle_part(std::span<const MessageSettlement> settlements) {
        KeyTurns::Keys users;
        for (const MessageSettlement& settlement : settlements) {
            users.push_back(turn_of(settlement.user));
        }
        const auto turn = turns_.enter(std::move(users), latest());
        auto rows = write(kSettle, settling(settlements, true));
        if (!rows && rows.error().contended()) {
            rows = write(kSettle, settling(settlements, false));
        }
        if (!rows) {
            return Unexpected{StoreError{rows.error().described()}};
        }
        const std::int64_t held = rows->number(0, 0).value_or(0);
        return held == 0 ? Result<void, StoreError>{}
                         : Unexpected{StoreError{"another transaction holds the rows of " +
                                                 std::to_string(held) + " messages"}};
    }

    [[nodiscard]] static steady_clock::time_point latest() {
        return steady_clock::now() + kConnectionPatience;
    }

    // Once. What it changed is committed when this returns rows. Remembers whether the server takes writes.
    Result<Rows, Failure> write(const Statement& statement, const Parameters& parameters) {
        auto rows = caller_.call(statement, parameters);
        const bool failed = !rows && !rows.error().contended();
        failed_.store(failed, std::memory_order_relaxed);  // A hint: whoever asks tries for itself.
        if (!rows) {
            caller_.tell(rows.error());
        }
        return rows;
    }

    Result<Rows, GatewayFault> read(const Statement& statement, const Parameters& parameters) {
        auto rows = caller_.call(statement, parameters);
        if (!rows) {
            caller_.tell(rows.error());
            return Unexpected{unavailable(rows.error().described())};  // Reading stores nothing.
        }
        return std::move(*rows);
    }

    const PostgresGatewayOptions options_;
    KeyTurns turns_;
    std::atomic<bool> failed_ = false;
    const std::shared_ptr<Server> server_;  // Other stores use it too.
    ConnectionShare pool_;
    PatientCaller caller_;
    GatewayOutbox outbox_;
    GatewaySweeper sweeper_;
};

}  // namespace

Result<std::unique_ptr<GatewayStore>, std::string> open_postgres_gateway_store(
    std::shared_ptr<Server> server, const PostgresGatewayOptions& options, PostgresGatewayWorld world) {
    auto store = std::make_unique<Store>(std::move(server), options, world);
    if (auto complaint = store->complaint()) {
        return Unexpected{*std::move(complaint)};
    }
    return std::unique_ptr<GatewayStore>{std::move(store)};
}

}  // namespace sluice
