#include "app/gateway/arrival_sender.hpp"

namespace sluice {
namespace {

constexpr std::string_view kSenderComponent = "Sender";
constexpr Backoff::Bounds kTryPauses{Duration{100}, Duration{10'000}};

void count_one(std::atomic<std::uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

ArrivalSender::ArrivalSender(ArrivalSenderOptions options, World world)
    : options_{options},
      world_{world},
      sent_ids_{options.ids_max},
      backoff_{kTryPauses, options.seed},
      loop_{world.runtime, Repeating::Pause{0}, [this](const std::stop_token& stop) { return run(stop); }} {}

void ArrivalSender::stop() {
    loop_.stop();
    world_.arrivals.listen({});
}

Repeating::Pause ArrivalSender::run(const std::stop_token& stop) {
    if (!listening_) {  // Here, because arrivals are for one thread at a time.
        listening_ = true;
        world_.arrivals.listen([this] { loop_.nudge(); });
    }
    while (!stop.stop_requested()) {
        if (settled_ == taken_.size()) {
            settled_ = 0;
            taken_ = world_.arrivals.take(options_.batch_max);
            if (taken_.empty()) {
                return Repeating::kUntilNudged;
            }
        }
        const std::size_t first = settled_;
        while (!stop.stop_requested() && settled_ < taken_.size() && settle(taken_[settled_])) {
            ++settled_;
        }
        world_.arrivals.done(std::span{taken_}.subspan(first, settled_ - first));
        if (!stop.stop_requested() && settled_ < taken_.size()) {
            return backoff_.next();
        }
    }
    return Repeating::kUntilNudged;
}

// False: it could not be sent, and is tried again.
bool ArrivalSender::settle(const Arrival& arrival) {
    const auto& message = arrival.message;
    if (!message) {
        count_one(malformed_);
        world_.log.write(LogLevel::Warn, kSenderComponent,
                         "Skipped a malformed message, partition " + std::to_string(arrival.partition) +
                             ", offset " + std::to_string(arrival.offset) + ": " + message.error());
        return true;
    }
    if (message->expires && *message->expires <= world_.clock.now()) {
        count_one(expired_);
        return true;
    }
    if (sent_ids_.has(message->id)) {
        count_one(doubled_);
        return true;
    }
    return send(*message);
}

bool ArrivalSender::send(const OutgoingMessage& message) {
    if (!world_.outlet.send(message)) {
        count_one(failed_);
        tell_trouble();
        return false;
    }
    in_trouble_ = false;
    backoff_.reset();
    sent_ids_.add(message.id);
    count_one(sent_);
    return true;
}

// Once, until a message is sent again.
void ArrivalSender::tell_trouble() {
    if (!in_trouble_) {
        in_trouble_ = true;
        world_.log.write(LogLevel::Warn, kSenderComponent, "A message cannot be sent; it is tried again");
    }
}

ArrivalCounts ArrivalSender::counts() const {
    return {.sent = sent_.load(std::memory_order_relaxed),
            .expired = expired_.load(std::memory_order_relaxed),
            .doubled = doubled_.load(std::memory_order_relaxed),
            .malformed = malformed_.load(std::memory_order_relaxed),
            .failed = failed_.load(std::memory_order_relaxed)};
}

}  // namespace sluice
