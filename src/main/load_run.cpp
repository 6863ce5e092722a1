#include "main/load_run.hpp"

#include <array>
#include <deque>
#include <utility>
#include <vector>

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "net/http_wire.hpp"

namespace sluice {
namespace {

using MonotonicClock = std::chrono::steady_clock;
using SteadyTime = MonotonicClock::time_point;

constexpr std::chrono::seconds kAnswerPatience{10};
constexpr std::uint64_t kTimerMark = ~std::uint64_t{0};

// Owns a file descriptor.
class File {
public:
    File() = default;
    explicit File(int number) : number_{number} {}
    File(File&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    File& operator=(File&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~File() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    [[nodiscard]] int get() const { return number_; }
    [[nodiscard]] bool open() const { return number_ >= 0; }

private:
    int number_ = -1;
};

struct Connection {
    net::ClientSocket socket;
    std::string received;
    bool waiting = false;  // For an answer.
    SteadyTime began{};    // When its request was due.
    SteadyTime sent{};     // Later than that when every connection was busy.
};

class Load {
public:
    Load(const LoadPlan& plan, std::chrono::seconds progress_every, const LoadProgress& progress)
        : plan_{plan}, progress_every_{progress_every}, progress_{progress} {}

    Result<LoadReport, std::string> run() {
        if (std::string error = open_all(); !error.empty()) {
            return Unexpected{error};
        }
        start_ = MonotonicClock::now();
        last_answer_ = start_;
        next_progress_ = start_ + progress_every_;
        for (std::size_t i = 0; i < connections_.size(); ++i) {
            idle_.push_back(i);
        }
        while (step()) {
        }
        report_.took = last_answer_ - start_;
        return std::move(report_);
    }

private:
    std::string open_all() {
        const auto address = net::first_address(plan_.server);
        if (!address) {
            return address.error();
        }
        address_ = *address;
        connections_.resize(plan_.connections);
        for (std::size_t i = 0; i < connections_.size(); ++i) {
            if (std::string error = connect(i); !error.empty()) {
                return error;
            }
        }
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = kTimerMark;
        ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, timer_.get(), &event);
        return {};
    }

    // Blocks while it connects: that is before the load, or after a failure that spoiled the figures anyway.
    // Says what went wrong.
    std::string connect(std::size_t index) {
        auto opened = net::ClientSocket::open(plan_.server, address_, plan_.tls);
        if (!opened) {
            return opened.error();
        }
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = index;
        ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, opened->descriptor(), &event);
        Connection& connection = connections_[index];
        connection.socket = std::move(*opened);
        connection.received.clear();
        connection.waiting = false;
        return {};
    }

    // Sends what is due and takes the answers that came. False when all is done.
    bool step() {
        SteadyTime now = MonotonicClock::now();
        send_due(now);
        if (done_sending(now) && idle_.size() + broken_ == connections_.size()) {
            return false;
        }
        std::array<epoll_event, 256> ready{};
        constexpr int kTickMs = 100;  // How often at least the clock is looked at.
        const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), kTickMs);
        now = MonotonicClock::now();
        for (int i = 0; i < count; ++i) {
            const std::uint64_t mark = ready[static_cast<std::size_t>(i)].data.u64;
            if (mark == kTimerMark) {
                std::uint64_t times = 0;
                [[maybe_unused]] const auto ignored = ::read(timer_.get(), &times, sizeof times);
            } else {
                receive(mark, now);
            }
        }
        if (plan_.interrupted && now >= next_look_) {
            constexpr std::chrono::milliseconds kLookEvery{50};
            next_look_ = now + kLookEvery;
            if (plan_.interrupted()) {
                return false;
            }
        }
        if (now >= next_progress_) {
            next_progress_ += progress_every_;
            drop_late(now);
            progress_(report_, now - start_);
        }
        return broken_ < connections_.size();
    }

    bool done_sending(SteadyTime now) const {
        return plan_.count ? sent_ >= *plan_.count : now >= start_ + plan_.duration;
    }

    SteadyTime due_time(std::uint64_t number) const {
        const double seconds = static_cast<double>(number) / static_cast<double>(*plan_.per_second);
        return start_ +
               std::chrono::duration_cast<MonotonicClock::duration>(std::chrono::duration<double>{seconds});
    }

    void send_due(SteadyTime now) {
        while (!idle_.empty() && !done_sending(now)) {
            const SteadyTime due = plan_.per_second ? due_time(sent_) : now;
            if (due > now) {
                wake_at(due);
                return;
            }
            const std::size_t index = idle_.front();
            idle_.pop_front();
            Connection& connection = connections_[index];
            plan_.write_request(sent_++, request_);
            connection.began = due;
            connection.sent = now;
            connection.waiting = true;
            if (!connection.socket.send(request_)) {
                lose(index);
            }
        }
    }

    void wake_at(SteadyTime time) const {
        // The steady clock is CLOCK_MONOTONIC, so that its instants can be given to the timer as they are.
        const auto since = time.time_since_epoch();
        const auto whole = std::chrono::duration_cast<std::chrono::seconds>(since);
        itimerspec when{};
        when.it_value.tv_sec = whole.count();
        when.it_value.tv_nsec = std::chrono::duration_cast<std::chrono::nanoseconds>(since - whole).count();
        ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
    }

    void receive(std::size_t index, SteadyTime now) {
        Connection& connection = connections_[index];
        std::array<char, 16384> bytes;
        const auto count = connection.socket.receive(bytes);
        if (!count) {
            lose(index);
            return;
        }
        connection.received.append(bytes.data(), *count);
        net::WireResponse response;
        const net::WireState state = net::read_response(connection.received, response);
        if (state == net::WireState::Incomplete) {
            return;
        }
        if (state == net::WireState::Broken || !connection.waiting) {
            lose(index);
            return;
        }
        take(response, now - connection.began);
        last_answer_ = now;
        connection.received.erase(0, response.size);
        connection.waiting = false;
        if (response.closes) {
            reconnect(index);
        } else {
            idle_.push_back(index);
        }
    }

    void take(const net::WireResponse& response, std::chrono::nanoseconds latency) {
        ++report_.statuses[response.status];
        const bool good =
            (response.status >= 200 && response.status < 300) || response.status == plan_.also_good;
        if (good) {
            report_.latency.record(latency);
        } else if (report_.refusal_status == 0) {
            report_.refusal_status = response.status;
            report_.refusal_body = response.body;
        }
    }

    void lose(std::size_t index) {
        report_.lost += connections_[index].waiting ? 1 : 0;
        last_answer_ = MonotonicClock::now();
        std::erase(idle_, index);
        reconnect(index);
    }

    void reconnect(std::size_t index) {
        connections_[index].socket = {};
        connections_[index].waiting = false;
        if (connect(index).empty()) {
            idle_.push_back(index);
        } else {
            ++broken_;
        }
    }

    void drop_late(SteadyTime now) {
        for (std::size_t i = 0; i < connections_.size(); ++i) {
            if (connections_[i].waiting && now - connections_[i].sent > kAnswerPatience) {
                lose(i);
            }
        }
    }

    const LoadPlan& plan_;
    const std::chrono::seconds progress_every_;
    const LoadProgress& progress_;
    File events_{::epoll_create1(EPOLL_CLOEXEC)};
    File timer_{::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)};
    net::SocketAddress address_;
    std::vector<Connection> connections_;
    std::deque<std::size_t> idle_;  // The longest idle first, so that all take part.
    std::size_t broken_ = 0;        // Connections that could not be opened again.
    std::string request_;
    std::uint64_t sent_ = 0;
    SteadyTime start_{};
    SteadyTime last_answer_{};
    SteadyTime next_progress_{};
    SteadyTime next_look_{};  // Whether it was interrupted.
    LoadReport report_;
};

}  // namespace

Result<LoadReport, std::string> run_load(const LoadPlan& plan, std::chrono::seconds progress_every,
                                         const LoadProgress& progress) {
    return Load{plan, progress_every, progress}.run();
}

}  // namespace sluice
