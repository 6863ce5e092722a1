#include <charconv>
#include <deque>
#include <memory>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "door/http/connection.hpp"
#include "door/http/json_body.hpp"
#include "door/http/line_splitter.hpp"
#include "door/http/request_head.hpp"
#include "door/http/slot_desk.hpp"

namespace sluice::http {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;

using Parser = beast_http::request_parser<beast_http::buffer_body>;

constexpr std::size_t kPiece = 64 * 1024;
constexpr std::size_t kEventsPerGroup = 256;
constexpr std::size_t kGroupsMax = 4;  // Under way at once: enough that reading, storing and writing overlap.

// Lets one coroutine wait until another has changed something. Both belong to one io thread.
class Signal {
public:
    explicit Signal(const asio::any_io_executor& executor) : timer_{executor} {}

    asio::awaitable<void> wait() {
        timer_.expires_at(asio::steady_timer::time_point::max());
        boost::system::error_code ignored;
        co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    void raise() { timer_.cancel(); }

private:
    asio::steady_timer timer_;
};

// Lines that travel together. Each is an event on its way, or an answer already.
struct Group {
    struct Item {
        bool asked;                         // It is among the events.
        std::optional<std::string> failed;  // The answer line of what was none, or is for an unknown event.
    };
    std::vector<Item> items;
    std::vector<AssignSlot> events;
    std::vector<std::string> event_ids;
    EachOutcome outcomes;
    bool done = false;
};

class SlotStream : public std::enable_shared_from_this<SlotStream> {
public:
    SlotStream(const SlotDesk& desk, const StreamCall& call, const asio::any_io_executor& executor)
        : desk_{desk},
          connection_{call.connection},
          receive_timeout_{call.options.receive_timeout},
          executor_{executor},
          room_{executor},
          ready_{executor} {
        parser_.body_limit(boost::none);
        parser_.header_limit(kHeadBytesMax);
        parser_.eager(true);
    }

    asio::awaitable<bool> run(bool expects_continue) {
        if (!put_unread() || !parser_.is_header_done()) {
            co_return false;
        }
        std::string opening = expects_continue ? "HTTP/1.1 100 Continue\r\n\r\n" : "";
        opening += "HTTP/1.1 200 OK\r\n" + connection_.date_line() +
                   "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
        const bool opened = co_await connection_.write(opening);
        if (!opened) {
            co_return false;
        }
        using asio::experimental::awaitable_operators::operator&&;
        co_await (read_events() && write_answers());
        co_return !failed_ && parser_.keep_alive() && !connection_.draining();
    }

private:
    asio::awaitable<void> read_events() {
        split_scratch();
        while (!failed_ && !parser_.is_done()) {
            while (!failed_ && groups_.size() >= kGroupsMax) {
                co_await room_.wait();
            }
            if (failed_) {
                break;
            }
            if (connection_.unread().empty() || starved_) {
                flush();
                const bool got_more = co_await connection_.read_more(kPiece, receive_timeout_);
                if (!got_more) {
                    fail();
                    break;
                }
            }
            if (!put_unread()) {
                fail();
                break;
            }
            split_scratch();
        }
        if (!failed_) {
            splitter_.end([this](std::string_view line) { add(line); }, [this] { add_too_long(); });
            flush();
        }
        finished_ = true;
        ready_.raise();
    }

    asio::awaitable<void> write_answers() {
        std::string out;
        for (;;) {
            while (!failed_ && !(groups_.empty() ? finished_ : groups_.front()->done)) {
                co_await ready_.wait();
            }
            if (failed_) {
                co_return;
            }
            out.clear();
            while (!groups_.empty() && groups_.front()->done) {
                append_chunk(out, *groups_.front());
                groups_.pop_front();
            }
            const bool last = finished_ && groups_.empty();
            if (last) {
                out += "0\r\n\r\n";
            }
            room_.raise();
            const bool written = co_await connection_.write(out);
            if (!written) {
                fail();
                co_return;
            }
            if (last) {
                co_return;
            }
        }
    }

    // Gives the parser what was read; the body's bytes are then in scratch_. False: the body is broken.
    bool put_unread() {
        parser_.get().body() = {scratch_.data(), scratch_.size(), true};
        boost::system::error_code error;
        const std::string_view bytes = connection_.unread();
        const std::size_t used = parser_.put(asio::buffer(bytes.data(), bytes.size()), error);
        connection_.consume(used);
        starved_ = error == beast_http::error::need_more;
        scratch_used_ = scratch_.size() - parser_.get().body().size;
        return !error || starved_ || error == beast_http::error::need_buffer;
    }

    void split_scratch() {
        splitter_.feed(
            {scratch_.data(), scratch_used_}, [this](std::string_view line) { add(line); },
            [this] { add_too_long(); });
        scratch_used_ = 0;
    }

    void add(std::string_view line) {
        const JsonBody body{line};
        if (body.object() == nullptr) {
            return add_failed(std::nullopt, body.problem());
        }
        EventRead event = read_event({*body.object(), line}, body_defaults(desk_));
        if (!event.command) {
            return add_failed(claimed_event_id(*body.object()), *event.problem);
        }
        Group::Item item{true, std::nullopt};
        if (event.problem) {
            item.failed = failed_line(event.command->event_id.text(), *event.problem);
        }
        current().items.push_back(std::move(item));
        current().events.push_back(*std::move(event.command));
        flush_if_full();
    }

    void add_failed(std::optional<std::string_view> event_id, const Problem& problem) {
        current().items.push_back({false, failed_line(event_id, problem)});
        flush_if_full();
    }

    static std::string failed_line(std::optional<std::string_view> event_id, const Problem& problem) {
        std::string line;
        append_failed(line, event_id, problem);
        return line;
    }

    void add_too_long() {
        add_failed(std::nullopt, {413, "line_too_long", "The line is longer than 64 KiB."});
    }

    Group& current() {
        if (!current_) {
            current_ = std::make_shared<Group>();
        }
        return *current_;
    }

    void flush_if_full() {
        if (current_->items.size() >= kEventsPerGroup) {
            flush();
        }
    }

    // Sends the current group on its way.
    void flush() {
        if (!current_) {
            return;
        }
        const auto group = std::exchange(current_, nullptr);
        groups_.push_back(group);
        if (group->events.empty()) {
            group->done = true;
            return ready_.raise();
        }
        for (const AssignSlot& event : group->events) {
            group->event_ids.push_back(event.event_id.text());
        }
        desk_.slots.assign_each(
            std::move(group->events),
            [self = shared_from_this(), group](EachOutcome outcomes) mutable {
                const auto executor = self->executor_;
                asio::post(executor,
                           [self = std::move(self), group, outcomes = std::move(outcomes)]() mutable {
                               group->outcomes = std::move(outcomes);
                               group->done = true;
                               self->ready_.raise();
                           });
            },
            WhenFull::WaitForRoom);
    }

    static void append_outcome(std::string& lines, const Group& group, const Group::Item& item,
                               std::size_t event) {
        const SlotOutcome& outcome = group.outcomes[event];
        if (outcome) {
            append_slot(lines, outcome->slot);
        } else if (item.failed && outcome.error().fault == SlotFault::UnknownEvent) {
            lines += *item.failed;
        } else {
            append_failed(lines, group.event_ids[event], to_problem(outcome.error()));
        }
    }

    static void append_chunk(std::string& out, const Group& group) {
        std::string lines;
        std::size_t next = 0;
        for (const Group::Item& item : group.items) {
            if (!item.asked) {
                lines += *item.failed;
            } else {
                append_outcome(lines, group, item, next);
                ++next;
            }
            lines += '\n';
        }
        std::array<char, 16> size{};
        const auto end = std::to_chars(size.data(), size.data() + size.size(), lines.size(), 16).ptr;
        out.append(size.data(), end);
        out += "\r\n" + lines + "\r\n";
    }

    // Nobody is there to talk to any more: both sides end.
    void fail() {
        failed_ = true;
        connection_.abort();
        room_.raise();
        ready_.raise();
    }

    const SlotDesk& desk_;
    Connection& connection_;
    const std::chrono::seconds receive_timeout_;
    asio::any_io_executor executor_;
    Parser parser_;
    std::vector<char> scratch_ = std::vector<char>(kPiece);
    std::size_t scratch_used_ = 0;
    LineSplitter splitter_;
    std::shared_ptr<Group> current_;             // Being filled.
    std::deque<std::shared_ptr<Group>> groups_;  // Under way, in order.
    Signal room_;                                // Raised when groups_ shrank.
    Signal ready_;                               // Raised when a group is done, or the input is.
    bool starved_ = false;                       // The parser needs more than it was given.
    bool finished_ = false;                      // All input was read.
    bool failed_ = false;
};

}  // namespace

asio::awaitable<bool> stream_slots(const SlotDesk& desk, StreamCall call) {
    // Shared with the completions of what is under way: the service may finish them after the client has
    // left.
    const auto executor = co_await asio::this_coro::executor;
    const auto stream = std::make_shared<SlotStream>(desk, call, executor);
    co_return co_await stream->run(call.head.expects_continue);
}

}  // namespace sluice::http
