#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "store/postgres/client/connection.hpp"
#include "support/slot_nodes.hpp"

// Who disturbs slots on PostgreSQL, and what each of them was told. Every actor owns its events, so it knows
// what has to be stored of each when all is over.
namespace sluice::test {

// What has to be stored of an event at the end.
struct Promise {
    enum class Kind {
        Assigned,
        Cancelled,
        Absent,     // Refused or rolled back.
        Uncertain,  // A commit whose outcome nobody told.
    };
    Kind kind = Kind::Absent;
    std::string answer;  // The body that was answered, while assigned.
};

// What all actors together were told. Thread safety: all of it.
class Testimony {
public:
    void complain(const std::string& what);
    void add(const std::map<std::string, Promise>& promises, std::chrono::milliseconds slowest);

    // False once anybody has complained.
    bool content();
    // REQUIRES: no actor runs any more.
    [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
    [[nodiscard]] const std::map<std::string, Promise>& promises() const { return promises_; }
    [[nodiscard]] std::chrono::milliseconds slowest() const { return slowest_; }

private:
    std::mutex mutex_;
    std::vector<std::string> complaints_;      // Guarded by mutex_. The first few.
    std::map<std::string, Promise> promises_;  // Guarded by mutex_.
    std::chrono::milliseconds slowest_{0};     // Guarded by mutex_.
};

// The requested times of a run: one a while ago, three in the future, none at the start of a window.
class RequestedTimes {
public:
    explicit RequestedTimes(Instant now) : now_{now} {}

    [[nodiscard]] std::vector<Instant> all() const;
    [[nodiscard]] std::string any(std::mt19937& random) const;
    // Long enough ago to be swept while the run goes on.
    [[nodiscard]] std::string ancient() const;

private:
    Instant now_;
};

// A slot as the public answers show it, of the columns of sluice.assign_slot or of the table.
std::string answer_sql(const std::string& event, const std::string& scheduled, const std::string& delay);

// A client of the nodes: assigns one by one and in batches, asks again, cancels and moves, until each request
// is answered.
class HttpActor {
public:
    HttpActor(std::string name, std::uint32_t seed, const SlotNodes& nodes, const RequestedTimes& times)
        : name_{std::move(name)}, random_{seed}, lines_{nodes}, times_{times} {}

    void step(Testimony& testimony);
    void testify(Testimony& testimony) const { testimony.add(promises_, lines_.slowest()); }

private:
    std::string new_event() { return name_ + "-" + std::to_string(++made_); }
    // One of its events that is assigned or cancelled; empty when there is none.
    std::string known(Promise::Kind kind);
    std::string member(const std::string& event);
    // Sends until the answer is one of these, to the next node whenever one cannot say.
    std::optional<HttpAnswer> insist(const std::string& text, const std::set<int>& wanted,
                                     Testimony& testimony);

    void assign(const std::string& event, Testimony& testimony);
    void assign_ancient(Testimony& testimony);
    void repeat(Testimony& testimony);
    void cancel(Testimony& testimony);
    void move(Testimony& testimony);
    void batch(Testimony& testimony);
    void atomic_batch(Testimony& testimony);

    const std::string name_;
    std::mt19937 random_;
    NodeLines lines_;
    const RequestedTimes& times_;
    std::size_t made_ = 0;
    std::map<std::string, Promise> promises_;
    std::map<Promise::Kind, std::vector<std::string>> by_kind_;  // May be out of date; checked when used.
};

// An application that takes slots in its own transactions: of every isolation level, with savepoints, with
// pauses, committed or not.
class SqlActor {
public:
    SqlActor(std::string name, std::uint32_t seed, std::string dsn, const RequestedTimes& times)
        : name_{std::move(name)}, random_{seed}, dsn_{std::move(dsn)}, times_{times} {}

    // One transaction.
    void step(Testimony& testimony);
    void testify(Testimony& testimony) const { testimony.add(promises_, std::chrono::milliseconds{0}); }

private:
    bool connected();
    // One statement; nothing when it failed, in a way that may happen.
    std::optional<postgres::Rows> run(const std::string& sql, Testimony& testimony);
    bool take_some(std::map<std::string, Promise>& taken, Testimony& testimony);

    const std::string name_;
    std::mt19937 random_;
    const std::string dsn_;
    const RequestedTimes& times_;
    std::unique_ptr<postgres::Connection> connection_;
    std::size_t made_ = 0;
    std::map<std::string, Promise> promises_;
};

}  // namespace sluice::test
