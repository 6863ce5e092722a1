#pragma once

#include <map>
#include <set>
#include <vector>

#include "app/dispatch/work_draft.hpp"
#include "store/postgres/client/work_rows.hpp"
#include "store/postgres/work/postgres_work_store.hpp"
#include "store/postgres/work/terms_reader.hpp"
#include "store/postgres/work/work_words.hpp"
#include "store/postgres/work/work_writer.hpp"

namespace sluice::postgres {

// One take: a transaction of two round trips, whatever the number of works. The first locks works that are
// due, skipping those that others hold, and the rows that count what their pools have sent; then the judge
// decides with these counts under lock; the second stores what it said and commits. What cannot be read,
// routed or placed under any config becomes dead, each by itself.
class TakeAttempt {
public:
    struct Setting {
        const WorkRouter& router;
        TermsReader& terms;
        NodeNumber node;
        Instant from;  // Nothing stands before that in the lane.
    };
    TakeAttempt(const Setting& setting, const Lane& lane) : setting_{setting}, lane_{lane} {}

    Result<void, Failure> run(Connection& connection, std::size_t most, const WorkStore::Judge& judge);

    // After a run() that succeeded.
    [[nodiscard]] Taken take_result() { return std::move(taken_); }
    // The first that stands in the lane by then is due at this time, or later.
    [[nodiscard]] Instant front() const { return front_; }
    // When the first is due that came into lane Due or Dead, if one did.
    [[nodiscard]] std::optional<Instant> news() const { return news_; }
    // What was set aside: the earliest in each lane.
    [[nodiscard]] const std::map<Lane, Instant>& filled() const { return filled_; }

private:
    // What a pool has sent in the window of now, with what this take claims.
    struct Counted {
        WindowSends sends;
        Duration window_size;
        Places sent_before;
    };
    struct Due {
        WorkDraft draft;
        Places cap;
    };
    struct Hopeless {
        std::string event_id;
        std::string reason;
    };

    void queue_reading(Connection& connection, std::size_t most) const;
    void read(const Rows& rows);
    // Why nothing can be done with it; empty: something can.
    std::string read_row(const Rows& rows, std::size_t row);
    std::string find_route(WorkDraft& draft, const Rows& rows, std::size_t row);
    void judge_all(const DispatchTerms& terms, const WorkStore::Judge& judge);
    [[nodiscard]] static Lateness lateness(const Work& work, const Counted& counted);
    void note(const WorkVerdict& verdict, const Work& work, Counted& counted, Lateness late);
    Result<void, Failure> store(Connection& connection);
    void queue_orders(Connection& connection) const;
    void queue_hopeless(Connection& connection) const;
    void queue_sent(Connection& connection) const;
    void queue_storing(Connection& connection, const WorkChanges& changes);
    void read_orders(const Rows& rows);
    void look_ahead(const Rows& next);

    const Setting setting_;
    const Lane& lane_;
    std::size_t most_ = 0;
    std::size_t locked_ = 0;
    std::vector<Due> due_;
    std::vector<Hopeless> hopeless_;
    Events routed_;
    std::map<PoolName, Counted> counted_;
    std::set<Fence> fences_;
    std::map<Lane, Instant> filled_;
    bool is_left_ = false;  // Some of those that were judged stay in the lane.
    std::optional<Instant> news_;
    Instant front_ = Instant::max();
    Taken taken_;
};

}  // namespace sluice::postgres
