#include "store/postgres/client/connection.hpp"

#include <algorithm>
#include <cassert>
#include <unordered_set>
#include <utility>

#include "store/postgres/client/connect_words_internal.hpp"
#include "store/postgres/client/pipeline_internal.hpp"
#include "store/postgres/client/server_lives.hpp"
#include "store/postgres/client/wire_internal.hpp"

namespace sluice::postgres {
namespace {

// Plain scripts: a pooler may not know what is prepared.
constexpr const char* kGreeting =
    "select pg_backend_pid(), (select (extract(epoch from a.backend_start) * 1000000)::bigint"
    " from pg_stat_activity a where a.pid = pg_backend_pid()),"
    " coalesce(current_setting('sluice.session', true), '') = 'on', current_setting('server_encoding')";
// The timeline that is written to now: that of the control file is the old one until a checkpoint has ended.
constexpr const char* kLife =
    "select system_identifier,"
    " ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint"
    " from pg_control_system() where not pg_is_in_recovery()";
constexpr Statement kEndSessions{
    "end_sessions",
    "select pg_terminate_backend(a.pid) from unnest($1::bigint[], $2::bigint[]) as s (pid, began)"
    " join pg_stat_activity a on a.pid = s.pid"
    " and (extract(epoch from a.backend_start) * 1000000)::bigint = s.began"};

Failure outlived() {
    return {kLost, "a newer primary is in force than the one this connection is with", true, true};
}

}  // namespace

struct Connection::Session {
    Session(PGconn* connection, const ConnectSettings& settings)
        : wire{connection, settings.statement_timeout + settings.silence_margin},
          lock_timeout{settings.lock_timeout},
          lives{settings.lives} {}

    [[nodiscard]] bool is_outlived() const { return lives && timeline != 0 && lives->outlived(timeline); }

    std::vector<Pipeline::Outcome> trip(Pipeline::Syncs syncs);
    std::optional<Failure> send_script(const std::string& sql);
    Result<Rows, Failure> read_script();
    void give_up();
    // Sees what a failure says about the session.
    void note(const Failure& failure);

    Wire wire;
    std::unordered_set<std::string> prepared;
    std::vector<Queued> queued;
    bool read_only = false;
    std::chrono::milliseconds lock_timeout;  // In force.
    const std::shared_ptr<ServerLives> lives;
    SessionKey key;
    std::int64_t timeline = 0;  // 0: not known.
};

std::vector<Pipeline::Outcome> Connection::Session::trip(Pipeline::Syncs syncs) {
    if (is_outlived()) {
        wire.close();
    }
    auto outcomes = Pipeline{wire, prepared, std::exchange(queued, {})}.run(syncs);
    if (is_outlived() && wire.open()) {  // What the old primary has said meanwhile does not count.
        std::ranges::for_each(outcomes, [](auto& outcome) { outcome = {std::nullopt, outlived()}; });
    }
    for (const auto& outcome : outcomes) {
        if (outcome.failure) {
            note(*outcome.failure);
        }
    }
    return outcomes;
}

void Connection::Session::note(const Failure& failure) {
    if (failure.connection_lost) {
        give_up();
    }
    // A primary that became a standby, or was told to take no writes: another host may take them.
    read_only = read_only || failure.means(Meaning::ReadOnly);
}

void Connection::Session::give_up() {
    wire.close();
    if (lives) {
        lives->abandon(std::exchange(key, {}));
    }
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
                return Unexpected{Failure{kNotSupported, "a script cannot COPY", true, true}};
        }
    }
    if (const auto doubt = wire.take_doubt(); doubt && !failure) {
        failure = Failure{kInDoubt, one_line(doubt->c_str()), false, true};
    }
    return failure ? Result<Rows, Failure>{Unexpected{*failure}} : Result<Rows, Failure>{std::move(rows)};
}

Result<std::unique_ptr<Connection>, Failure> Connection::dial(const ConnectSettings& settings,
                                                              const ConnectWords& words) {
    std::vector<const char*> keys;
    std::vector<const char*> values;
    for (const auto& [key, value] : words) {
        keys.push_back(key.c_str());
        values.push_back(value.c_str());
    }
    keys.push_back(nullptr);
    values.push_back(nullptr);
    // Blocking, because only so libpq applies the time-out to each host and goes on to the next.
    PGconn* connection = PQconnectdbParams(keys.data(), values.data(), 0);
    if (connection == nullptr || PQstatus(connection) != CONNECTION_OK) {
        Failure failure{kNotReached, one_line(PQerrorMessage(connection)), true, false};
        PQfinish(connection);
        return Unexpected{std::move(failure)};
    }
    return std::unique_ptr<Connection>{new Connection{std::make_unique<Session>(connection, settings)}};
}

Result<std::unique_ptr<Connection>, Failure> Connection::open(const ConnectSettings& settings) {
    auto words = connect_words(settings);
    if (!words) {
        return Unexpected{words.error()};
    }
    std::string passed_over;
    while (true) {
        auto dialled = dial(settings, *words);
        if (!dialled) {
            Failure failure = std::move(dialled).error();
            failure.message = passed_over + failure.message;
            return Unexpected{std::move(failure)};
        }
        const PGconn* reached = (*dialled)->session_->wire.connection();
        const std::string host = PQhost(reached);
        const std::string port = PQport(reached);
        const auto greeted = (*dialled)->greet(settings, *words, std::string{host}.append(":").append(port));
        if (greeted) {
            (*dialled)->end_abandoned();
            return dialled;
        }
        if (!greeted.error().means(Meaning::StrayServer) || !leave_out_host(*words, host, port)) {
            return Unexpected{greeted.error()};
        }
        passed_over += greeted.error().message + "; ";
    }
}

bool Connection::has_hosts(const ConnectSettings& settings) {
    const auto words = connect_words(settings);
    return words && each_host(*words).size() > 1;
}

void Connection::meet_hosts(const ConnectSettings& settings) {
    const auto words = connect_words(settings);
    const auto hosts = words ? each_host(*words) : std::vector<ConnectWords>{};
    if (hosts.size() < 2) {
        return;
    }
    for (const ConnectWords& host : hosts) {
        if (const auto dialled = dial(settings, host)) {
            const PGconn* reached = (*dialled)->session_->wire.connection();
            const std::string address = std::string{PQhost(reached)} + ":" + PQport(reached);
            // ServerLives notes what came of it.
            (void)(*dialled)->greet(settings, host, address).has_value();
        }
    }
}

Result<void, Failure> Connection::greet(const ConnectSettings& settings, const ConnectWords& words,
                                        const std::string& address) {
    const auto said = run_script(kGreeting);
    if (!said) {
        return Unexpected{said.error()};
    }
    session_->key = {said->number(0, 0).value_or(0), said->number(0, 1).value_or(0)};
    if (said->text(0, 3) != "UTF8") {
        return Unexpected{Failure{kUnfitServer,
                                  "the database is encoded in " + std::string{said->text(0, 3)} +
                                      ", which cannot hold every id: Sluice needs one in UTF8",
                                  true, false}};
    }
    if (!said->boolean(0, 2).value_or(false)) {
        if (auto pooled = set_up_behind_pooler(settings, words); !pooled) {
            return pooled;
        }
    }
    return session_->lives ? admit(address) : Result<void, Failure>{};
}

Result<void, Failure> Connection::set_up_behind_pooler(const ConnectSettings& settings,
                                                       const ConnectWords& words) {
    // In session mode no other connection can have this one's session. In other modes it is the one that the
    // pooler has used last, so it is the next to be handed out.
    auto other = dial(settings, words);
    if (!other) {
        return Unexpected{std::move(other).error()};
    }
    const auto said = (*other)->run_script(kGreeting);
    if (!said) {
        return Unexpected{said.error()};
    }
    if (said->number(0, 0) == session_->key.pid && said->number(0, 1) == session_->key.began_us) {
        return Unexpected{Failure{kUnfitServer, kNeedsSessionMode, true, false}};
    }
    const auto set = run_script(session_script(settings));
    return set ? Result<void, Failure>{} : Unexpected{set.error()};
}

Result<void, Failure> Connection::admit(const std::string& address) {
    const auto life = run_script(kLife);
    if (!life && life.error().connection_lost) {
        return Unexpected{life.error()};
    }
    if (!life) {
        session_->lives->admit_unknown(address, life.error());
        return {};
    }
    if (life->empty()) {
        return {};  // A standby, which the address allows: nothing can be written there.
    }
    const ServerLife told{std::string{life->text(0, 0)}, life->number(0, 1).value_or(0)};
    if (auto admitted = session_->lives->admit(address, told); !admitted) {
        return admitted;
    }
    session_->timeline = told.timeline;
    return {};
}

void Connection::end_abandoned() {
    const auto left = session_->lives ? session_->lives->take_abandoned() : std::vector<SessionKey>{};
    if (left.empty()) {
        return;
    }
    ArrayText pids;
    ArrayText began;
    for (const SessionKey& session : left) {
        pids.add(session.pid);
        began.add(session.began_us);
    }
    const auto ended = run(kEndSessions, Parameters{}.add(pids).add(began));
    if (ended) {
        session_->lives->ended(ended->size());
    } else {
        std::ranges::for_each(left, [this](const SessionKey& one) { session_->lives->abandon(one); });
    }
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

bool Connection::usable() const {
    return session_->wire.open() && !session_->read_only && !session_->is_outlived();
}

std::chrono::steady_clock::time_point Connection::heard_at() const { return session_->wire.heard_at(); }

bool Connection::alive() { return usable() && !session_->wire.check(); }

void Connection::abandon() { session_->give_up(); }

bool Connection::reset() {
    session_->queued.clear();
    if (usable() && in_transaction()) {
        (void)run_script("rollback").has_value();  // What became of it shows below.
    }
    return usable() && !in_transaction();
}

bool Connection::set_lock_timeout(std::chrono::milliseconds timeout) {
    if (timeout != session_->lock_timeout) {
        if (!run_script("set lock_timeout = " + std::to_string(timeout.count()))) {
            return false;
        }
        session_->lock_timeout = timeout;
    }
    return true;
}

std::chrono::milliseconds Connection::lock_timeout() const { return session_->lock_timeout; }

bool Connection::in_transaction() const {
    return session_->wire.open() && PQtransactionStatus(session_->wire.connection()) != PQTRANS_IDLE;
}

int Connection::server_version() const {
    return session_->wire.open() ? PQserverVersion(session_->wire.connection()) : 0;
}

}  // namespace sluice::postgres
