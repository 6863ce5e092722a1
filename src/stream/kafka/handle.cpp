#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include "stream/kafka/handle_internal.hpp"
#include "stream/kafka/outcome_internal.hpp"

namespace sluice::kafka {
namespace {

std::string text_of(Duration duration) { return std::to_string(duration.count()); }

ClientSettings producer_settings(const ProducerOptions& options) {
    return {
        .defaults =
            {
                // As Java's clients place a key.
                {"partitioner", "murmur2_random"},
                {"reconnect.backoff.max.ms", "1000"},
                {"socket.keepalive.enable", "true"},
                {"socket.timeout.ms", "10000"},
                // A topic that is still unknown then is not waited for, so that the reason can be told.
                {"topic.metadata.propagation.max.ms", text_of(options.publish_timeout / 2)},
            },
        .promised =
            {
                {"acks", "all"},
                {"enable.gapless.guarantee", "false"},
                {"enable.idempotence", "true"},
                {"log.queue", "true"},
                {"message.timeout.ms", text_of(options.publish_timeout)},
                {"queue.buffering.max.kbytes", std::to_string((options.bytes_max + 1023) / 1024)},
                {"queue.buffering.max.messages", std::to_string(options.messages_max)},
                // Its only use is to see brokers come back: no event tells.
                {"statistics.interval.ms", "1000"},
            },
    };
}

rd_kafka_vu_t argument(rd_kafka_vtype_t kind) {
    rd_kafka_vu_t value{};
    value.vtype = kind;
    return value;
}

rd_kafka_vu_t bytes(rd_kafka_vtype_t kind, const std::string& text) {
    rd_kafka_vu_t value = argument(kind);
    // Copied, and never written to: librdkafka has one type for both.
    value.u.mem.ptr = const_cast<char*>(text.data());
    value.u.mem.size = text.size();
    return value;
}

Owned<rd_kafka_headers_t> headers_of(const Message& message) {
    Owned<rd_kafka_headers_t> headers{::rd_kafka_headers_new(message.headers.size())};
    for (const auto& [name, value] : message.headers) {
        ::rd_kafka_header_add(headers.get(), name.data(), static_cast<ssize_t>(name.size()), value.data(),
                              static_cast<ssize_t>(value.size()));
    }
    return headers;
}

// REQUIRES: all that is given outlives what is returned.
std::vector<rd_kafka_vu_t> arguments(const Message& message, rd_kafka_headers_t* headers, void* opaque) {
    std::vector<rd_kafka_vu_t> list;
    list.reserve(6);
    list.push_back(argument(RD_KAFKA_VTYPE_TOPIC));
    list.back().u.cstr = message.topic.c_str();
    list.push_back(argument(RD_KAFKA_VTYPE_MSGFLAGS));
    list.back().u.i = RD_KAFKA_MSG_F_COPY;
    list.push_back(argument(RD_KAFKA_VTYPE_OPAQUE));
    list.back().u.ptr = opaque;
    list.push_back(bytes(RD_KAFKA_VTYPE_VALUE, message.value));
    if (message.key) {
        list.push_back(bytes(RD_KAFKA_VTYPE_KEY, *message.key));
    }
    // Not one by one: librdkafka 2.0 frees those twice when it refuses the message.
    list.push_back(argument(RD_KAFKA_VTYPE_HEADERS));
    list.back().u.headers = headers;
    return list;
}

void tell_deliveries(rd_kafka_event_t* event, HandleListener& listener) {
    while (const rd_kafka_message_t* const message = ::rd_kafka_event_message_next(event)) {
        const std::unique_ptr<Producer::Done> done{static_cast<Producer::Done*>(message->_private)};
        listener.reported(std::move(*done), judge(message->err, ::rd_kafka_message_status(message)));
    }
}

}  // namespace

Result<std::unique_ptr<Handle>, std::string> Handle::open(const ProducerOptions& options) {
    auto client = open_client(options.access, producer_settings(options));
    if (!client) {
        return Unexpected{client.error()};
    }
    const int signal = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (signal < 0) {
        return Unexpected{std::string{"Kafka: no event descriptor: "} + std::strerror(errno) + "."};
    }
    return std::unique_ptr<Handle>{new Handle{std::move(*client), signal}};
}

Handle::Handle(Owned<rd_kafka_t> client, int signal)
    : signal_{signal}, client_{std::move(client)}, queue_{::rd_kafka_queue_get_main(client_.get())} {
    constexpr std::uint64_t kOne = 1;  // What an eventfd takes.
    ::rd_kafka_queue_io_event_enable(queue_.get(), signal_, &kOne, sizeof kOne);
    // It signals when an empty queue gets its first event, and the client has already begun to talk.
    static_cast<void>(::write(signal_, &kOne, sizeof kOne));
}

Handle::~Handle() {
    ::rd_kafka_queue_io_event_enable(queue_.get(), -1, nullptr, 0);
    ::close(signal_);
}

std::optional<Report> Handle::produce(const Message& message, Producer::Done& done) {
    auto kept = std::make_unique<Producer::Done>(std::move(done));
    auto headers = headers_of(message);
    const auto list = arguments(message, headers.get(), kept.get());
    const Owned<rd_kafka_error_t> error{::rd_kafka_produceva(client_.get(), list.data(), list.size())};
    if (error == nullptr) {
        static_cast<void>(headers.release());  // The message's now.
        static_cast<void>(kept.release());     // Until the delivery report brings it back.
        return std::nullopt;
    }
    done = std::move(*kept);
    return judge_refusal(::rd_kafka_error_code(error.get()), ::rd_kafka_error_string(error.get()));
}

void Handle::serve(HandleListener& listener) {
    std::uint64_t count = 0;
    // Before the queue is emptied: what comes afterwards signals again.
    static_cast<void>(::read(signal_, &count, sizeof count));
    while (const Owned<rd_kafka_event_t> event{::rd_kafka_queue_poll(queue_.get(), 0)}) {
        tell(event.get(), listener);
    }
}

void Handle::tell(rd_kafka_event_t* event, HandleListener& listener) {
    switch (::rd_kafka_event_type(event)) {
        case RD_KAFKA_EVENT_DR: tell_deliveries(event, listener); break;
        case RD_KAFKA_EVENT_STATS:
            listener.brokers_counted(connected_in(::rd_kafka_event_stats(event)));
            break;
        case RD_KAFKA_EVENT_LOG: {
            const char* facility = nullptr;
            const char* line = nullptr;
            int level = 0;
            if (::rd_kafka_event_log(event, &facility, &line, &level) == 0) {
                listener.told(line);
            }
            break;
        }
        case RD_KAFKA_EVENT_ERROR:
            if (::rd_kafka_event_error_is_fatal(event) != 0) {
                std::array<char, 512> words{};
                ::rd_kafka_fatal_error(client_.get(), words.data(), words.size());
                listener.failed(words.data());
            } else if (::rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
                listener.all_brokers_down();
            } else {
                listener.broker_trouble(::rd_kafka_event_error_string(event));
            }
            break;
        default: break;
    }
}

void Handle::give_up_waiting() {
    ::rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_NON_BLOCKING);
}

void Handle::give_up_all() {
    ::rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
}

bool Handle::is_empty() const { return ::rd_kafka_outq_len(client_.get()) == 0; }

}  // namespace sluice::kafka
