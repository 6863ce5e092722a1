#include "app/gateway/outbox_sender.hpp"

namespace sluice {
namespace {

constexpr std::string_view kComponent = "Sender";
constexpr Backoff::Bounds kPauses{std::chrono::milliseconds{100}, std::chrono::seconds{5}};

}  // namespace

OutboxSender::OutboxSender(OutboxSenderWorld world, std::uint64_t seed)
    : world_{world},
      backoff_{kPauses, seed},
      job_{world.runtime, Repeating::Pause{0}, [this](const std::stop_token& stop) { return run(stop); }},
      looks_{world.runtime.timer([this] { look(); })} {
    if (world_.look_every) {
        looks_->set(world_.runtime.now() + *world_.look_every);
    }
}

void OutboxSender::stop() {
    looks_->stop();
    job_.stop();
}

void OutboxSender::look() {
    job_.nudge();
    looks_->set(world_.runtime.now() + *world_.look_every);
}

Repeating::Pause OutboxSender::run(const std::stop_token& stop) {
    std::size_t found = 0;
    // What has left is closed first: until then it would be found again.
    const bool fine = close() && send_some(stop, found) && close();
    if (!fine) {
        world_.metrics.sender_failed();
        return backoff_.next();
    }
    backoff_.reset();
    return found < kBatch ? Repeating::kUntilNudged : Repeating::Pause{0};
}

bool OutboxSender::send_some(const std::stop_token& stop, std::size_t& found) {
    const auto waiting = world_.outbox.waiting(kBatch);
    if (!waiting) {
        world_.log.write(LogLevel::Warn, kComponent,
                         "Messages that wait cannot be read: " + waiting.error().what);
        return false;
    }
    found = waiting->size();
    for (const WaitingMessage& one : *waiting) {
        if (stop.stop_requested()) {
            break;
        }
        if (!send(one)) {
            world_.log.write(LogLevel::Warn, kComponent, "A message could not be sent; it is tried again");
            close();
            return false;
        }
    }
    return true;
}

bool OutboxSender::send(const WaitingMessage& waiting) {
    const auto& expires = waiting.message.expires;
    const bool expired = expires && world_.outbox.time() >= *expires;
    if (!expired && !world_.outlet.send(waiting.message)) {
        return false;
    }
    left_.push_back(
        {waiting.number, waiting.message.id, expired ? MessageState::Expired : MessageState::Sent});
    return true;
}

bool OutboxSender::close() {
    if (left_.empty()) {
        return true;
    }
    if (const auto closed = world_.outbox.close(left_); !closed) {
        world_.log.write(LogLevel::Warn, kComponent,
                         "Messages that were sent cannot be closed yet: " + closed.error().what);
        return false;
    }
    for (const OutboxClosing& closing : left_) {
        world_.metrics.left_outbox(closing.state);
    }
    left_.clear();
    return true;
}

}  // namespace sluice
