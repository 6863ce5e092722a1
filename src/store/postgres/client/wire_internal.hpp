#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

struct FreeResult {
    void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPointer = std::unique_ptr<PGresult, FreeResult>;

// What the server said about a statement that it refused.
Failure failure_of(const PGresult* result);

// The lines of libpq's message that say what happened, as one; without its advice.
std::string one_line(const char* message);

// libpq's connection in non-blocking mode, with the waiting that libpq leaves to its user.
// Thread safety: one thread at a time, except wake().
class Wire {
public:
    // Takes the connection over.
    // REQUIRES: it is established.
    Wire(PGconn* connection, std::chrono::milliseconds silence_max);
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    // REQUIRES: open().
    [[nodiscard]] PGconn* connection() const { return connection_; }
    [[nodiscard]] bool open() const { return connection_ != nullptr; }

    // Sees whether the server has closed the connection, before something is sent that might be lost with it.
    std::optional<Failure> check();

    // Sends what libpq has buffered and reads what came; blocks until either moves on. A failure has closed
    // the connection.
    std::optional<Failure> exchange();

    // Waits for notifications; see Connection::wait().
    Result<std::vector<Notification>, Failure> wait(std::chrono::milliseconds timeout);
    void wake() const;

    // Closes the connection at once: nothing that libpq has still buffered goes out.
    void close();
    // Closes it and says why, as far as libpq knows.
    Failure lose();

    // When something last came from the server.
    [[nodiscard]] std::chrono::steady_clock::time_point heard_at() const { return heard_at_; }

    // The warning, if one came since the last call, that a commit was not confirmed by the standby.
    std::optional<std::string> take_doubt();

private:
    static void receive_notice(void* self, const PGresult* notice);
    Failure give_up();
    std::vector<Notification> take_notifications();

    PGconn* connection_;  // nullptr once closed.
    const std::chrono::milliseconds silence_max_;
    const int wake_event_;
    std::chrono::steady_clock::time_point heard_at_ = std::chrono::steady_clock::now();
    std::optional<std::string> doubt_;
};

}  // namespace sluice::postgres
