#include "stream/kafka/consumer.hpp"

#include <chrono>

#include "stream/kafka/client_internal.hpp"
#include "stream/kafka/link_watch.hpp"
#include "stream/kafka/topic_name.hpp"

namespace sluice::kafka {
namespace {

std::string in_milliseconds(Duration duration) { return std::to_string(duration.count()); }

ClientSettings consumer_settings(const ConsumerOptions& options) {
    const std::string kilobytes = std::to_string((options.bytes_max + 1023) / 1024);
    const std::string bytes = std::to_string(options.bytes_max);
    return {
        .defaults =
            {
                {"reconnect.backoff.max.ms", "1000"},
                {"heartbeat.interval.ms", in_milliseconds(kSessionTimeout / 3)},
                {"session.timeout.ms", in_milliseconds(kSessionTimeout)},
                {"socket.keepalive.enable", "true"},
                // The end waits for both: for the coordinator, and for its answer.
                {"socket.timeout.ms", in_milliseconds(kSessionTimeout)},
                // So soon a topic is seen that was made after the start.
                {"topic.metadata.refresh.interval.ms", "5000"},
            },
        .promised =
            {
                {"allow.auto.create.topics", "false"},
                {"auto.commit.interval.ms", in_milliseconds(kCommitPause)},
                {"auto.offset.reset", "earliest"},
                // Of what done() has stored, and of nothing else.
                {"enable.auto.commit", "true"},
                {"enable.auto.offset.store", "false"},
                {"fetch.max.bytes", bytes},
                {"fetch.message.max.bytes", bytes},
                {"group.id", options.group},
                {"log.queue", "true"},
                // A member that moves between two partitions at a time would have to be told of both.
                {"partition.assignment.strategy", "range,roundrobin"},
                {"queued.max.messages.kbytes", kilobytes},
                {"queued.min.messages", std::to_string(options.messages_max)},
                // It shows brokers come back, for which no event is there, and it makes an idle member ask
                // for events, as members must from time to time.
                {"statistics.interval.ms", "1000"},
            },
        .kind = RD_KAFKA_CONSUMER,
    };
}

std::vector<std::pair<std::string, std::string>> headers_of(const rd_kafka_message_t& message) {
    std::vector<std::pair<std::string, std::string>> found;
    rd_kafka_headers_t* headers = nullptr;
    if (::rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return found;
    }
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    while (::rd_kafka_header_get_all(headers, found.size(), &name, &value, &size) ==
           RD_KAFKA_RESP_ERR_NO_ERROR) {
        found.emplace_back(name, std::string(static_cast<const char*>(value), size));
    }
    return found;
}

Record record_of(const rd_kafka_message_t& message) {
    Record record{.partition = message.partition, .offset = message.offset, .headers = headers_of(message)};
    if (message.payload != nullptr) {
        record.value.emplace(static_cast<const char*>(message.payload), message.len);
    }
    return record;
}

std::string listed(const rd_kafka_topic_partition_list_t& partitions) {
    std::string text;
    for (int at = 0; at < partitions.cnt; ++at) {
        text += (text.empty() ? "" : ", ") + std::to_string(partitions.elems[at].partition);
    }
    return text;
}

class KafkaConsumer final : public Consumer {
public:
    KafkaConsumer(ConsumerOptions options, ClientWorld world, Owned<rd_kafka_t> client)
        : options_{std::move(options)},
          world_{world},
          link_{{options_.access.brokers, options_.purpose}, world},
          client_{std::move(client)},
          queue_{::rd_kafka_queue_get_consumer(client_.get())} {}
    ~KafkaConsumer() override { leave(); }
    KafkaConsumer(const KafkaConsumer&) = delete;
    KafkaConsumer& operator=(const KafkaConsumer&) = delete;

    void listen(std::function<void()> arrived) override { set_listener(std::move(arrived)); }

    std::vector<Record> take(std::size_t most) override {
        std::vector<Record> taken;
        while (client_ && taken.size() < most) {
            const Owned<rd_kafka_event_t> event{::rd_kafka_queue_poll(queue_.get(), 0)};
            if (event == nullptr) {
                break;
            }
            serve(event.get(), taken);
        }
        return taken;
    }

    void done(std::span<const Record> records) override {
        if (!client_ || records.empty()) {
            return;
        }
        const Owned<rd_kafka_topic_partition_list_t> next{::rd_kafka_topic_partition_list_new(1)};
        for (const Record& record : records) {
            auto* place =
                ::rd_kafka_topic_partition_list_find(next.get(), options_.topic.c_str(), record.partition);
            if (place == nullptr) {
                place =
                    ::rd_kafka_topic_partition_list_add(next.get(), options_.topic.c_str(), record.partition);
            }
            place->offset = record.offset + 1;
        }
        // Fails for partitions that belong to another member, and has stored all others.
        static_cast<void>(::rd_kafka_offsets_store(client_.get(), next.get()));
    }

    [[nodiscard]] LinkState state() const override { return link_.state(); }

    void stop() override { leave(); }

private:
    static void call_listener(rd_kafka_t* /*client*/, void* opaque) {
        static_cast<KafkaConsumer*>(opaque)->arrived_();
    }

    void set_listener(std::function<void()> arrived) {
        if (!client_) {
            return;
        }
        // librdkafka calls with the queue locked: once it has no listener, nobody is in it.
        ::rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
        arrived_ = std::move(arrived);
        if (arrived_) {
            ::rd_kafka_queue_cb_event_enable(queue_.get(), call_listener, this);
        }
    }

    void serve(rd_kafka_event_t* event, std::vector<Record>& taken) {
        switch (::rd_kafka_event_type(event)) {
            case RD_KAFKA_EVENT_FETCH:
                while (const rd_kafka_message_t* const message = ::rd_kafka_event_message_next(event)) {
                    keep(*message, taken);
                }
                break;
            case RD_KAFKA_EVENT_REBALANCE: rebalance(event); break;
            case RD_KAFKA_EVENT_STATS: link_.counted(connected_in(::rd_kafka_event_stats(event))); break;
            case RD_KAFKA_EVENT_LOG: tell(event); break;
            case RD_KAFKA_EVENT_ERROR:
                complain(::rd_kafka_event_error(event), ::rd_kafka_event_error_string(event));
                break;
            default: break;
        }
    }

    void keep(const rd_kafka_message_t& message, std::vector<Record>& taken) {
        if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            complain(message.err, ::rd_kafka_message_errstr(&message));
            return;
        }
        complaint_.clear();
        link_.answered();
        taken.push_back(record_of(message));
    }

    void rebalance(rd_kafka_event_t* event) {
        const auto* const partitions = ::rd_kafka_event_topic_partition_list(event);
        const bool gained = ::rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
        ::rd_kafka_assign(client_.get(), gained ? partitions : nullptr);
        const bool any = partitions != nullptr && partitions->cnt > 0;
        world_.log.write(LogLevel::Info, kLogComponent,
                         "group " + options_.group + ": this member " + (gained ? "reads" : "gives up") +
                             " " + (any ? "partitions " + listed(*partitions) : "no partition") + " of " +
                             options_.topic);
    }

    void tell(rd_kafka_event_t* event) {
        const char* facility = nullptr;
        const char* line = nullptr;
        int level = 0;
        if (::rd_kafka_event_log(event, &facility, &line, &level) == 0) {
            world_.log.write(LogLevel::Debug, kLogComponent, line);
        }
    }

    // The same once, until something can be read again: librdkafka repeats itself.
    void complain(rd_kafka_resp_err_t error, const std::string& words) {
        switch (error) {
            case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN: link_.all_down(); return;
            case RD_KAFKA_RESP_ERR__TRANSPORT:
            case RD_KAFKA_RESP_ERR__RESOLVE:
            case RD_KAFKA_RESP_ERR__TIMED_OUT: link_.trouble(words); return;
            default: break;
        }
        if (words != complaint_) {
            complaint_ = words;
            world_.log.write(LogLevel::Warn, kLogComponent, "cannot read " + options_.topic + ": " + words);
        }
    }

    void leave() {
        if (!client_) {
            return;
        }
        set_listener({});
        const bool closed = close();  // Otherwise the others wait until the session is over.
        queue_.reset();
        if (closed) {
            client_.reset();
        } else {
            // librdkafka 2.0 may wait for a broker that is gone without end, in its destructor too. What is
            // left of the client calls nobody, and ends with the process.
            static_cast<void>(client_.release());
        }
    }

    // False: it takes too long.
    bool close() {
        const Owned<rd_kafka_queue_t> events{::rd_kafka_queue_new(client_.get())};
        const Owned<rd_kafka_error_t> refused{::rd_kafka_consumer_close_queue(client_.get(), events.get())};
        const auto deadline = std::chrono::steady_clock::now() + kSessionTimeout + kSessionTimeout / 2;
        while (::rd_kafka_consumer_closed(client_.get()) == 0) {
            if (std::chrono::steady_clock::now() > deadline) {
                return false;
            }
            constexpr int kLookMs = 50;
            const Owned<rd_kafka_event_t> event{::rd_kafka_queue_poll(events.get(), kLookMs)};
            if (event != nullptr && ::rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_REBALANCE) {
                rebalance(event.get());
            }
        }
        return true;
    }

    const ConsumerOptions options_;
    const ClientWorld world_;
    LinkWatch link_;
    std::string complaint_;          // Told last. Empty: none since something was read.
    std::function<void()> arrived_;  // Changes only while librdkafka has no listener.
    Owned<rd_kafka_t> client_;       // Null: it has stopped.
    Owned<rd_kafka_queue_t> queue_;  // Before the client goes.
};

Result<void, std::string> subscribe(rd_kafka_t* client, const std::string& topic) {
    const Owned<rd_kafka_topic_partition_list_t> topics{::rd_kafka_topic_partition_list_new(1)};
    ::rd_kafka_topic_partition_list_add(topics.get(), topic.c_str(), RD_KAFKA_PARTITION_UA);
    const auto error = ::rd_kafka_subscribe(client, topics.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return Unexpected{"Kafka: topic " + topic + " cannot be read: " + ::rd_kafka_err2str(error) + "."};
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Consumer>, std::string> make_consumer(ConsumerOptions options, ClientWorld world) {
    if (const auto fault = topic_name_fault(options.topic)) {
        return Unexpected{*fault};
    }
    auto client = open_client(options.access, consumer_settings(options));
    if (!client) {
        return Unexpected{client.error()};
    }
    // All events come on the consumer's own queue.
    ::rd_kafka_poll_set_consumer(client->get());
    if (const auto subscribed = subscribe(client->get(), options.topic); !subscribed) {
        return Unexpected{subscribed.error()};
    }
    return std::unique_ptr<Consumer>{
        std::make_unique<KafkaConsumer>(std::move(options), world, std::move(*client))};
}

}  // namespace sluice::kafka
