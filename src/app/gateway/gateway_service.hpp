#pragma once

#include <functional>

#include "app/combiner.hpp"
#include "app/gateway/gateway_observer.hpp"
#include "app/gateway/gateway_store.hpp"
#include "app/gateway/publisher.hpp"
#include "base/log.hpp"

namespace sluice {

struct GatewayServiceOptions {
    std::size_t batch_max = 256;    // Messages that one call of the store serves.
    std::size_t queue_max = 65536;  // Messages that may wait for it.
    std::chrono::milliseconds patience{
        2000};                       // How long one may wait. With a publication it stays below 10 s.
    std::size_t queries_max = 1024;  // Queries that may wait.
    std::size_t workers = 1;         // How many calls of the store run at once.
};

// What surrounds the service. All of it outlives the service.
struct GatewayServiceWorld {
    GatewayStore& store;
    Publisher* publisher;  // Null: what is granted goes to the store's outbox.
    GatewayMetrics& metrics;
    Log& log;
    Runtime& runtime;
    std::function<MessageId()> draw_id;  // A name that nobody has had or can guess. By any thread.
    std::function<void()> on_waiting;    // Something was put into the outbox. Must not block.
};

// The answer to a send.
struct SendAnswer {
    SendOutcome outcome;
    std::optional<MessageId> id{};  // Of what is sent, or may be: Accepted has one, others if nobody knows.
    Duration retry_after{};         // Limited: until the window ends.
};

// Why a query was not answered.
enum class GatewayRefusal : std::uint8_t { StoreDown, Overloaded };

// The use cases of the gateway, for every door. A send reserves a place in its user's window, hands the
// message over, and settles: reservations and settlements of many are made together. Without a publisher the
// reservation hands over itself. Nothing here blocks the caller; completions run on a worker, by a timer, by
// the publisher, or within the call.
// Thread safety: all of it.
class GatewayService {
public:
    GatewayService(GatewayServiceOptions options, GatewayServiceWorld world);
    ~GatewayService() { stop(); }
    GatewayService(const GatewayService&) = delete;
    GatewayService& operator=(const GatewayService&) = delete;

    template <class T>
    using Done = UniqueFunction<void(Result<T, GatewayRefusal>)>;

    void send(MessageDraft message, UniqueFunction<void(SendAnswer)> done);

    void put_user(UserId user, UserTerms terms, Done<UserWindow> done);
    void find_user(UserId user, Done<std::optional<UserWindow>> done);
    void find_message(MessageId id, Done<std::optional<MessageStory>> done);
    // Whether messages can be accepted.
    void readiness(UniqueFunction<void(bool)> done);

    // Refuses what comes from now on, and returns when all that was accepted is answered. Stops the
    // publisher.
    void stop();

private:
    // A send on its way through the steps.
    struct Errand {
        MessageDraft message;
        MessageId id;
        UniqueFunction<void(SendAnswer)> done;
        SteadyTime begun;
    };
    using ErrandRef = std::shared_ptr<Errand>;
    using Query = UniqueFunction<void()>;

    std::vector<ReserveReply> reserve(std::span<ErrandRef> errands);
    std::vector<std::monostate> settle(std::span<MessageSettlement> settlements);
    void go_on(const ErrandRef& errand, Result<ReserveReply, Refusal> reply);
    void publish(const ErrandRef& errand, const Reserved& reserved);
    void conclude(const ErrandRef& errand, const MessageSettlement& settlement);
    void answer(Errand& errand, SendAnswer answer);
    // Lets a thread that may block make the call, which gives a Result<T, GatewayFault>.
    template <class T, class Call>
    void ask(Call call, Done<T> done);
    void tell(const GatewayFault& fault);

    const GatewayServiceOptions options_;
    const GatewayServiceWorld world_;
    Combiner<ErrandRef, ReserveReply> reservations_;
    Combiner<MessageSettlement, std::monostate> settlements_;
    Combiner<Query, std::monostate> queries_;
};

}  // namespace sluice
