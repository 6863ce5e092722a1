#include "store/postgres/connection.hpp"

#include <cassert>
#include <unordered_set>
#include <utility>

#include "store/postgres/connect_words_internal.hpp"
#include "store/postgres/pipeline_internal.hpp"
#include "store/postgres/wire_internal.hpp"

namespace sluice::postgres {

struct Connection::Session {
    Session(PGconn* connection, std::chrono::milliseconds silence_max) : wire{connection, silence_max} {}

    std::vector<Pipeline::Outcome> trip(Pipeline::Syncs syncs);
    std::optional<Failure> send_script(const std::string& sql);
    Result<Rows, Failure> read_script();
    // Sees what a failure says about the session.
    void note(const Failure& failure);

    Wire wire;
    std::unordered_set<std::string> prepared;
    std::vector<Queued> queued;
    bool read_only = false;
};

std::vector<Pipeline::Outcome> Connection::Session::trip(Pipeline::Syncs syncs) {
    auto outcomes = Pipeline{wire, prepared, std::exchange(queued, {})}.run(syncs);
    for (const auto& outcome : outcomes) {
        if (outcome.failure) {
            note(*outcome.failure);
        }
    }
    return outcomes;
}

void Connection::Session::note(const Failure& failure) {
    if (failure.connection_lost) {
        wire.close();
    }
    // A primary that became a standby, or was told to take no writes: another host may take them.
    read_only = read_only || failure.sqlstate == "25006";
}

std::optional<Failure> Connection::Session::send_script(const std::string& sql) {
    if (auto lost = wire.check()) {
        return lost;
    }
    wire.take_doubt();
    if (PQsendQuery(wire.connection(), sql.c_str()) != 1) {
        return wire.lose();
    }
    return std::nullopt;
}

Result<Rows, Failure> Connection::Session::read_script() {
    Rows rows;
    std::optional<Failure> failure;
    while (true) {
        while (PQisBusy(wire.connection()) != 0) {
            if (auto lost = wire.exchange()) {
                lost = failure.value_or(*lost);
                // An error rolls back what is not explicitly committed; a script may do that in its middle.
                lost->connection_lost = lost->outcome_unknown = true;
                return Unexpected{*lost};
            }
        }
        ResultPointer result{PQgetResult(wire.connection())};
        if (!result) {
            break;
        }
        switch (PQresultStatus(result.get())) {
            case PGRES_COMMAND_OK:
            case PGRES_TUPLES_OK: rows = Rows{result.release()}; break;
            case PGRES_EMPTY_QUERY: break;
            case PGRES_FATAL_ERROR: failure = failure.value_or(failure_of(result.get())); break;
            default:  // COPY, which would wait for data that nobody sends.
                wire.close();
                return Unexpected{Failure{"0A000", "a script cannot COPY", true, true}};
        }
    }
    if (const auto doubt = wire.take_doubt(); doubt && !failure) {
        failure = Failure{"01000", one_line(doubt->c_str()), false, true};
    }
    return failure ? Result<Rows, Failure>{Unexpected{*failure}} : Result<Rows, Failure>{std::move(rows)};
}

Result<std::unique_ptr<Connection>, Failure> Connection::open(const ConnectSettings& settings) {
    const auto words = connect_words(settings);
    if (!words) {
        return Unexpected{words.error()};
    }
    std::vector<const char*> keys;
    std::vector<const char*> values;
    for (const auto& [key, value] : *words) {
        keys.push_back(key.c_str());
        values.push_back(value.c_str());
    }
    keys.push_back(nullptr);
    values.push_back(nullptr);
    // Blocking, because only so libpq applies the time-out to each host and goes on to the next.
    PGconn* connection = PQconnectdbParams(keys.data(), values.data(), 0);
    if (connection == nullptr || PQstatus(connection) != CONNECTION_OK) {
        Failure failure{"08001", one_line(PQerrorMessage(connection)), true, false};
        PQfinish(connection);
        return Unexpected{std::move(failure)};
    }
    const auto silence_max = settings.statement_timeout + settings.silence_margin;
    return std::unique_ptr<Connection>{new Connection{std::make_unique<Session>(connection, silence_max)}};
}

Connection::Connection(std::unique_ptr<Session> session) : session_{std::move(session)} {}

Connection::~Connection() = default;

Result<Rows, Failure> Connection::run(const Statement& statement, Parameters parameters) {
    assert(session_->queued.empty());
    queue(statement, std::move(parameters));
    auto results = flush();
    if (!results) {
        return Unexpected{std::move(results).error()};
    }
    return std::move(results->front());
}

Result<Rows, Failure> Connection::run_script(const std::string& sql) {
    assert(session_->queued.empty());
    if (const auto lost = session_->send_script(sql)) {
        return Unexpected{*lost};
    }
    auto rows = session_->read_script();
    if (!rows) {
        session_->note(rows.error());
    }
    return rows;
}

void Connection::queue(const Statement& statement, Parameters parameters) {
    session_->queued.push_back({statement, std::move(parameters)});
}

Result<std::vector<Rows>, Failure> Connection::flush() {
    auto outcomes = session_->trip(Pipeline::Syncs::Last);
    std::vector<Rows> rows;
    rows.reserve(outcomes.size());
    for (auto& outcome : outcomes) {
        if (outcome.failure) {
            return Unexpected{std::move(*outcome.failure)};
        }
        rows.push_back(outcome.rows ? std::move(*outcome.rows) : Rows{});
    }
    return rows;
}

std::vector<Result<Rows, Failure>> Connection::flush_each() {
    std::vector<Result<Rows, Failure>> results;
    for (auto& outcome : session_->trip(Pipeline::Syncs::Each)) {
        if (outcome.failure) {
            results.emplace_back(Unexpected{std::move(*outcome.failure)});
        } else {
            results.emplace_back(outcome.rows ? std::move(*outcome.rows) : Rows{});
        }
    }
    return results;
}

Result<std::vector<Notification>, Failure> Connection::wait(std::chrono::milliseconds timeout) {
    return session_->wire.wait(timeout);
}

void Connection::wake() { session_->wire.wake(); }

bool Connection::usable() const { return session_->wire.open() && !session_->read_only; }

bool Connection::alive() { return usable() && !session_->wire.check(); }

bool Connection::reset() {
    session_->queued.clear();
    if (usable() && in_transaction()) {
        (void)run_script("rollback").has_value();  // What became of it shows below.
    }
    return usable() && !in_transaction();
}

bool Connection::in_transaction() const {
    return session_->wire.open() && PQtransactionStatus(session_->wire.connection()) != PQTRANS_IDLE;
}

int Connection::server_version() const {
    return session_->wire.open() ? PQserverVersion(session_->wire.connection()) : 0;
}

}  // namespace sluice::postgres
