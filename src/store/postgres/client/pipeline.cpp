#include <algorithm>
#include <cassert>
#include <cctype>
#include <utility>

#include "store/postgres/client/pipeline_internal.hpp"

namespace sluice::postgres {
namespace {

// How much is handed to libpq before waiting for the socket to take it: enough to keep it busy, and little
// beside the batch itself, of which libpq makes a copy.
constexpr std::size_t kAhead = std::size_t{256} * 1024;

// The next word in lower case, taken off the front.
std::string next_word(std::string_view& sql) {
    const auto is_letter = [](char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; };
    while (!sql.empty() && std::isspace(static_cast<unsigned char>(sql.front())) != 0) {
        sql.remove_prefix(1);
    }
    std::string word;
    while (!sql.empty() && is_letter(sql.front())) {
        word += static_cast<char>(std::tolower(static_cast<unsigned char>(sql.front())));
        sql.remove_prefix(1);
    }
    return word;
}

Failure zero_byte() {
    return {kZeroByte, "a text holds a zero byte, which PostgreSQL cannot keep", false, false};
}

}  // namespace

Effect effect_of(std::string_view sql) {
    const auto first = next_word(sql);
    if (first == "begin" || first == "start") {
        return Effect::Begins;
    }
    if (first == "commit" || first == "end") {
        return Effect::Commits;
    }
    if (first == "abort" || first == "rollback") {
        const auto second = next_word(sql);  // To a savepoint: the transaction goes on.
        return second == "to" || second == "prepared" ? Effect::Works : Effect::RollsBack;
    }
    return Effect::Works;
}

Pipeline::Pipeline(Wire& wire, std::unordered_set<std::string>& prepared, std::vector<Queued> queued)
    : wire_{wire},
      prepared_{prepared},
      queued_{std::move(queued)},
      in_transaction_{wire_.open() && PQtransactionStatus(wire_.connection()) != PQTRANS_IDLE},
      outcomes_(queued_.size()) {}

void Pipeline::plan(Syncs syncs) {
    std::unordered_set<std::string_view> planned;
    for (std::size_t item = 0; item < queued_.size(); ++item) {
        if (!queued_[item].parameters.sendable()) {
            outcomes_[item].failure = zero_byte();
            if (syncs == Syncs::Last) {
                steps_.clear();
                return;
            }
            continue;
        }
        const char* name = queued_[item].statement.name;
        if (!prepared_.contains(name) && planned.insert(name).second) {
            steps_.push_back({Kind::Parse, item});
        }
        steps_.push_back({Kind::Execute, item});
        if (syncs == Syncs::Each || item + 1 == queued_.size()) {
            steps_.push_back({Kind::Sync, item});
        }
    }
}

std::vector<Pipeline::Outcome> Pipeline::run(Syncs syncs) {
    plan(syncs);
    if (steps_.empty()) {
        return std::move(outcomes_);
    }
    if (const auto lost = wire_.check()) {
        lose(*lost);
        return std::move(outcomes_);
    }
    wire_.take_doubt();  // What was said before is not about this trip.
    PQenterPipelineMode(wire_.connection());
    while (done_ < steps_.size()) {
        if (!send_some()) {
            lose(wire_.lose());
            return std::move(outcomes_);
        }
        take_results();
        if (done_ == steps_.size()) {
            break;
        }
        if (const auto lost = wire_.exchange()) {
            lose(*lost);
            return std::move(outcomes_);
        }
    }
    PQexitPipelineMode(wire_.connection());
    return std::move(outcomes_);
}

bool Pipeline::send_some() {
    while (sent_ < steps_.size()) {
        if (unflushed_ >= kAhead) {
            const int unsent = PQflush(wire_.connection());
            if (unsent != 0) {
                return unsent > 0;
            }
            unflushed_ = 0;
        }
        if (!send(steps_[sent_])) {
            return false;
        }
        ++sent_;
    }
    return true;
}

bool Pipeline::send(const Step& step) {
    PGconn* connection = wire_.connection();
    const auto& [statement, parameters] = queued_[step.item];
    switch (step.kind) {
        case Kind::Parse: return PQsendPrepare(connection, statement.name, statement.sql, 0, nullptr) == 1;
        case Kind::Sync: return PQpipelineSync(connection) == 1;
        case Kind::Execute: break;
    }
    assert(parameters.size() <= 65535);
    unflushed_ += parameters.bytes();
    const auto pointers = parameters.pointers();
    return PQsendQueryPrepared(connection, statement.name, static_cast<int>(pointers.size()), pointers.data(),
                               nullptr, nullptr, 0) == 1;
}

void Pipeline::take_results() {
    while (done_ < sent_ && PQisBusy(wire_.connection()) == 0) {
        take(ResultPointer{PQgetResult(wire_.connection())});
    }
}

void Pipeline::take(ResultPointer result) {
    const Step& step = steps_[done_];
    if (!result) {  // The end of a statement's results. A Sync has none; one that failed is still to come.
        done_ += step.kind == Kind::Sync ? 0U : 1U;
        return;
    }
    switch (PQresultStatus(result.get())) {
        case PGRES_PIPELINE_SYNC:
            settle(step.item);
            ++done_;
            break;
        case PGRES_COMMAND_OK:
        case PGRES_TUPLES_OK:
        case PGRES_EMPTY_QUERY:
            if (step.kind == Kind::Parse) {
                prepared_.insert(queued_[step.item].statement.name);
            } else {
                outcomes_[step.item].rows.emplace(result.release());
            }
            break;
        case PGRES_PIPELINE_ABORTED: break;  // Skipped because of a failure that has been noted.
        default: take_failure(step, result.get());
    }
}

void Pipeline::take_failure(const Step& step, const PGresult* result) {
    const std::string name = queued_[step.item].statement.name;
    Failure failure = failure_of(result);
    failure.message += " (" + name + ")";
    if (failure.means(
            Meaning::PreparedByOthers)) {  // We have not prepared it, so somebody else has, in this session.
        failure = {kUnfitServer, kNeedsSessionMode, true, failure.outcome_unknown};
    }
    if (step.kind == Kind::Parse) {
        unprepared_.emplace(name, failure);
    } else if (const auto known = unprepared_.find(name);
               known != unprepared_.end() && failure.means(Meaning::NotPrepared)) {
        failure = known->second;  // That it is not prepared is only what follows from this.
    }
    if (!outcomes_[step.item].failure) {
        outcomes_[step.item].failure = std::move(failure);
    }
}

void Pipeline::settle(std::size_t last) {
    const auto doubt = wire_.take_doubt();
    if (doubt && !outcomes_[last].failure && may_commit(segment_, done_ + 1)) {
        outcomes_[last].failure = Failure{kInDoubt, one_line(doubt->c_str()), false, true};
    }
    segment_ = done_ + 1;
}

// Whether the steps from `first`, as far as they were sent, may have made the server commit.
bool Pipeline::may_commit(std::size_t first, std::size_t end) const {
    bool explicitly = in_transaction_;
    bool worked = false;
    for (std::size_t at = first; at < std::min(end, sent_); ++at) {
        if (steps_[at].kind == Kind::Parse) {
            continue;
        }
        if (steps_[at].kind == Kind::Sync) {
            return worked && !explicitly;
        }
        switch (effect_of(queued_[steps_[at].item].statement.sql)) {
            case Effect::Commits: return true;
            case Effect::Begins: explicitly = true; break;
            case Effect::RollsBack: explicitly = worked = false; break;
            case Effect::Works: worked = true; break;
        }
    }
    return false;
}

void Pipeline::lose(const Failure& failure) {
    while (segment_ < steps_.size()) {
        auto end = segment_;
        const Failure* known = nullptr;  // What the server said before the connection was lost.
        for (; steps_[end].kind != Kind::Sync; ++end) {
            const auto& said = outcomes_[steps_[end].item].failure;
            known = known == nullptr && said ? &*said : known;
        }
        ++end;
        const bool refused = known != nullptr && !known->connection_lost;  // Then nothing is committed.
        Failure reason = known != nullptr ? *known : failure;
        reason.connection_lost = true;
        reason.outcome_unknown = !refused && may_commit(segment_, end);
        for (; segment_ < end; ++segment_) {
            auto& outcome = outcomes_[steps_[segment_].item];
            outcome.rows.reset();
            outcome.failure = reason;
        }
    }
}

}  // namespace sluice::postgres
