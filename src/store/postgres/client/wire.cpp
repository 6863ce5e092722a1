#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/postgres/client/wire_internal.hpp"

namespace sluice::postgres {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string_view field(const PGresult* result, int code) {
    const char* value = PQresultErrorField(result, code);
    return value == nullptr ? std::string_view{} : std::string_view{value};
}

// poll() that a signal does not shorten.
int poll_until(std::span<pollfd> files, Clock::time_point deadline) {
    while (true) {
        const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
        const auto bounded = std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max());
        const int ready = ::poll(files.data(), files.size(), static_cast<int>(bounded));
        if (ready >= 0 || errno != EINTR) {
            return ready;
        }
    }
}

}  // namespace

std::string one_line(const char* message) {
    std::string line;
    std::string_view rest{message == nullptr ? "" : message};
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const auto part = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (part.empty() || part.front() == '\t') {
            continue;  // Lines set in are advice.
        }
        line += line.empty() ? "" : "; ";
        line += part;
    }
    return line;
}

Failure failure_of(const PGresult* result) {
    Failure failure;
    failure.sqlstate = field(result, PG_DIAG_SQLSTATE);
    failure.message = one_line(std::string{field(result, PG_DIAG_MESSAGE_PRIMARY)}.c_str());
    const auto severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    failure.connection_lost = severity == "FATAL" || severity == "PANIC";
    if (failure.sqlstate.empty()) {  // Made by libpq: the server never answered.
        failure.sqlstate = kLost;
        failure.message = one_line(PQresultErrorMessage(result));
        failure.connection_lost = true;
    }
    return failure;
}

Wire::Wire(PGconn* connection, milliseconds silence_max)
    : connection_{connection},
      silence_max_{silence_max},
      wake_event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {
    PQsetnonblocking(connection_, 1);
    PQsetNoticeReceiver(connection_, &Wire::receive_notice, this);
}

Wire::~Wire() {
    if (open()) {
        PQfinish(connection_);
    }
    if (wake_event_ >= 0) {
        ::close(wake_event_);
    }
}

// The server commits on its own when the wait for its standby is cancelled, and says so in a warning only.
// Its text is in the server's language and its code is that of any warning. So all of that code count, but
// those that a function raised: they say nothing about the commit.
void Wire::receive_notice(void* self, const PGresult* notice) {
    if (field(notice, PG_DIAG_SEVERITY_NONLOCALIZED) == "WARNING" &&
        field(notice, PG_DIAG_SQLSTATE) == kInDoubt &&
        field(notice, PG_DIAG_SOURCE_FUNCTION) != "exec_stmt_raise") {
        static_cast<Wire*>(self)->doubt_ = std::string{field(notice, PG_DIAG_MESSAGE_PRIMARY)};
    }
}

std::optional<std::string> Wire::take_doubt() { return std::exchange(doubt_, std::nullopt); }

void Wire::close() {
    if (open()) {
        ::shutdown(PQsocket(connection_), SHUT_RDWR);  // PQfinish would send what is buffered.
        PQfinish(connection_);
        connection_ = nullptr;
    }
}

Failure Wire::lose() {
    std::string message = open() ? one_line(PQerrorMessage(connection_)) : "the connection is closed";
    close();
    return {kLost, message.empty() ? "the connection to the server was lost" : message, true, false};
}

Failure Wire::give_up() {
    close();
    return {kLost, "the server was silent for " + std::to_string(silence_max_.count()) + " ms", true, false};
}

std::optional<Failure> Wire::check() {
    if (!open()) {
        return lose();
    }
    std::array<pollfd, 1> file{pollfd{PQsocket(connection_), POLLIN, 0}};
    if (poll_until(file, Clock::now()) == 0) {
        return std::nullopt;
    }
    // Twice: the first reads the server's last words, the second finds the end behind them.
    for (int reading = 0; reading < 2; ++reading) {
        if (PQconsumeInput(connection_) == 0 || PQstatus(connection_) != CONNECTION_OK) {
            return lose();
        }
    }
    return std::nullopt;
}

std::optional<Failure> Wire::exchange() {
    const int unsent = PQflush(connection_);
    const int socket = PQsocket(connection_);
    if (unsent < 0 || socket < 0) {
        return lose();
    }
    const auto writing = static_cast<short>(unsent > 0 ? POLLOUT : 0);
    std::array<pollfd, 1> file{pollfd{socket, static_cast<short>(POLLIN | writing), 0}};
    const int ready = poll_until(file, Clock::now() + silence_max_);
    if (ready == 0) {
        return give_up();
    }
    const bool readable = (file[0].revents & ~POLLOUT) != 0;
    if (ready < 0 || (readable && PQconsumeInput(connection_) == 0)) {
        return lose();
    }
    if (readable) {
        heard_at_ = Clock::now();
    }
    return std::nullopt;
}

std::vector<Notification> Wire::take_notifications() {
    std::vector<Notification> taken;
    while (PGnotify* next = PQnotifies(connection_)) {
        taken.push_back({next->relname, next->extra});
        PQfreemem(next);
    }
    return taken;
}

Result<std::vector<Notification>, Failure> Wire::wait(milliseconds timeout) {
    // Bounded, because a deadline that does not fit into the clock would be one in the past.
    const auto deadline = Clock::now() + std::min<milliseconds>(timeout, std::chrono::hours{24});
    while (open()) {
        if (auto taken = take_notifications(); !taken.empty()) {
            return taken;
        }
        std::array<pollfd, 2> files{pollfd{PQsocket(connection_), POLLIN, 0}, pollfd{wake_event_, POLLIN, 0}};
        const int ready = poll_until(files, deadline);
        std::uint64_t wakes = 0;
        if (ready == 0 || (files[1].revents != 0 && ::read(wake_event_, &wakes, sizeof wakes) > 0)) {
            return std::vector<Notification>{};
        }
        if (ready < 0 || PQconsumeInput(connection_) == 0) {
            return Unexpected{lose()};
        }
    }
    return Unexpected{lose()};
}

void Wire::wake() const {
    const std::uint64_t one = 1;
    // It can only fail when wakes without number are waiting already.
    [[maybe_unused]] const auto written = ::write(wake_event_, &one, sizeof one);
}

}  // namespace sluice::postgres
