#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "store/postgres/client/failure.hpp"
#include "store/postgres/client/parameters.hpp"
#include "store/postgres/client/rows.hpp"

namespace sluice::postgres {

class ServerLives;

// libpq's connection parameters by keyword.
using ConnectWords = std::map<std::string, std::string>;

// A statement, prepared on its first use on each connection. One name always stands for the same text.
// REQUIRES: both live as long as the connections that run it.
struct Statement {
    const char* name;
    const char* sql;
};

// How to reach a server, and how long to wait for it. Every time is positive.
struct ConnectSettings {
    // postgres://user:password@host:port/database?..., several hosts with commas, or "host=... user=...".
    // Unless it says otherwise, only a host that takes writes is connected to.
    std::string dsn;
    // For each host in turn; in whole seconds, and at least two.
    std::chrono::milliseconds connect_timeout = std::chrono::seconds{5};
    std::chrono::milliseconds statement_timeout = std::chrono::seconds{5};
    std::chrono::milliseconds lock_timeout = std::chrono::seconds{2};
    std::chrono::milliseconds idle_in_transaction_timeout = std::chrono::seconds{10};
    // A server that stays silent for longer than the statement time-out by this much is given up: it is
    // frozen, its network is gone, or it commits and waits for a standby, which no server time-out ends.
    std::chrono::milliseconds silence_margin = std::chrono::seconds{1};
    // Who this process is among those that use the server: whoever speaks to all of them names it, so that a
    // process passes over what itself has said.
    std::int64_t node = 0;
    // What is known about the server; shared by all who connect to it. Without one nothing is watched.
    std::shared_ptr<ServerLives> lives{};
};

// What another session said with NOTIFY.
struct Notification {
    std::string channel;
    std::string payload;
};

// One session with a server: READ COMMITTED, UTC, all time-outs set. No call waits for ever; one that had to
// give up has closed the connection, and every later one fails at once.
// Thread safety: one thread at a time, except wake().
class Connection {
public:
    // Blocks for at most connect_timeout for each host and address (and for the resolver). A dsn that cannot
    // be understood fails with kNotReached and is not quoted: what is misplaced in it may be the password. A
    // host that ServerLives refuses is passed over. Sessions that it knows to be left behind are ended.
    // Behind a pooler the session is set up again, and refused unless it is a session of its own.
    static Result<std::unique_ptr<Connection>, Failure> open(const ConnectSettings& settings);

    // Meets each host of an address that names several, so that ServerLives knows the newest timeline among
    // them. Blocks as open() does.
    static void meet_hosts(const ConnectSettings& settings);
    // Whether the address names several.
    static bool has_hosts(const ConnectSettings& settings);

    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // One statement, one round trip, also when it has to be prepared first. Outside BEGIN and COMMIT it is
    // a transaction of its own.
    // REQUIRES: nothing is queued.
    Result<Rows, Failure> run(const Statement& statement, Parameters parameters = {});

    // Plain SQL without parameters, of any number of statements, in one round trip: the rows of the last. No
    // COPY. Outside BEGIN and COMMIT all of them are one transaction.
    // REQUIRES: nothing is queued.
    Result<Rows, Failure> run_script(const std::string& sql);

    // Adds a statement to those that flush() or flush_each() will send. The caller bounds their number.
    // REQUIRES: at most 65535 parameters.
    void queue(const Statement& statement, Parameters parameters = {});

    // Sends what was queued in one round trip and gives the rows of each, or the first failure. Sending and
    // reading go on together: neither side's buffers limit the size of a batch. The server may answer only
    // when all is done, so a batch should take no longer than one statement may.
    // Outside BEGIN and COMMIT all of it is one transaction, which a failure rolls back. After a BEGIN,
    // queued or earlier, a failure leaves the transaction open and failed, whatever followed has not been
    // run, a COMMIT neither, and the caller must ROLLBACK.
    Result<std::vector<Rows>, Failure> flush();

    // Like flush(), but each statement is a transaction of its own, with its own outcome, in the order of
    // queue(). One that fails does not touch the others.
    // REQUIRES: no transaction is open, and none is begun.
    std::vector<Result<Rows, Failure>> flush_each();

    // Waits until a notification comes for what was LISTENed to, wake() is called or the time has passed; in
    // the latter cases there are none. A wake() that came before the call ends it at once.
    // A frozen server cannot be told from a quiet one: run a statement from time to time.
    Result<std::vector<Notification>, Failure> wait(std::chrono::milliseconds timeout);

    // Ends a wait() in another thread, or the next one.
    // Thread safety: any thread.
    void wake();

    // False once the connection is lost, its server has become read-only, or a newer primary is in force.
    [[nodiscard]] bool usable() const;

    // When the server last said something.
    [[nodiscard]] std::chrono::steady_clock::time_point heard_at() const;

    // Sees, without a round trip, whether the server has closed the connection in the meantime.
    bool alive();

    // Forgets what is queued and rolls back an open transaction, in one round trip if there is one. False
    // when the connection is of no further use.
    bool reset();

    // Closes the connection without a word to the server, which may be silent; ServerLives remembers to end
    // the session.
    void abandon();

    // How long this session waits for a lock, from now on; a round trip if it is another time than before.
    // False when the connection was lost by it.
    // REQUIRES: nothing is queued, and no transaction is open.
    bool set_lock_timeout(std::chrono::milliseconds timeout);
    [[nodiscard]] std::chrono::milliseconds lock_timeout() const;

    // True between BEGIN and COMMIT or ROLLBACK, also when the transaction has failed.
    [[nodiscard]] bool in_transaction() const;

    // For example 150004 for 15.4.
    [[nodiscard]] int server_version() const;

private:
    struct Session;
    explicit Connection(std::unique_ptr<Session> session);

    // libpq's part of open().
    static Result<std::unique_ptr<Connection>, Failure> dial(const ConnectSettings& settings,
                                                             const ConnectWords& words);
    // Sees whether the server may be used and what is in force, and sets up what is not.
    Result<void, Failure> greet(const ConnectSettings& settings, const ConnectWords& words,
                                const std::string& address);
    Result<void, Failure> set_up_behind_pooler(const ConnectSettings& settings, const ConnectWords& words);
    Result<void, Failure> admit(const std::string& address);
    void end_abandoned();

    std::unique_ptr<Session> session_;
};

}  // namespace sluice::postgres
