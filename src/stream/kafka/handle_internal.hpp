#pragma once

#include <optional>
#include <string>

#include "base/steady_clock.hpp"
#include "stream/kafka/client_internal.hpp"
#include "stream/kafka/producer.hpp"

namespace sluice::kafka {

// What happens to a handle.
class HandleListener {
public:
    virtual ~HandleListener() = default;
    virtual void reported(Producer::Done done, Report report) = 0;
    virtual void broker_trouble(std::string reason) = 0;
    virtual void all_brokers_down() = 0;
    virtual void brokers_counted(std::size_t connected) = 0;
    virtual void failed(const std::string& reason) = 0;  // For good: it takes no message any more.
    virtual void told(const std::string& line) = 0;      // A line of librdkafka's own log.
};

// One producer of librdkafka.
// Thread safety: produce() from anywhere; the rest by one thread.
class Handle {
public:
    static Result<std::unique_ptr<Handle>, std::string> open(const ProducerOptions& options);
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    // Takes over `done`, or leaves it and says why the message was refused.
    std::optional<Report> produce(const Message& message, Producer::Done& done);

    // Readable when there is something to serve.
    [[nodiscard]] int signal() const { return signal_; }
    // Tells the listener what has happened since; returns at once.
    void serve(HandleListener& listener);

    // Nothing that has not been sent is sent any more: it is reported.
    void give_up_waiting();
    // Nor does anything wait for its acknowledgement.
    void give_up_all();
    [[nodiscard]] bool is_empty() const;

private:
    Handle(Owned<rd_kafka_t> client, int signal);

    void tell(rd_kafka_event_t* event, HandleListener& listener);

    const int signal_;  // An eventfd.
    const Owned<rd_kafka_t> client_;
    const Owned<rd_kafka_queue_t> queue_;  // Before the client goes.
};

}  // namespace sluice::kafka
