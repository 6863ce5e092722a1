#include "support/chaos_actors.hpp"

#include <algorithm>
#include <thread>

#include "base/iso8601.hpp"
#include "support/postgres_fixture.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kPatience = 60s;  // For one request to be answered for good.
constexpr std::size_t kComplaintsMax = 20;

// Refusals that say nothing of the request itself. Single requests get them with 503, atomic batches with
// 409.
const std::set<std::string> kTryAgain{"contended", "overloaded", "store_unavailable"};

// The answers inside {"results":[...]}, each with the event that it is about.
std::vector<std::pair<std::string, std::string>> results_of(const std::string& body) {
    static const std::string kStart = R"({"eventId":")";
    std::vector<std::pair<std::string, std::string>> results;
    for (auto at = body.find(kStart); at != std::string::npos;) {
        const auto next = body.find("," + kStart, at);
        const auto end = next == std::string::npos ? body.rfind("]}") : next;
        const std::string one = body.substr(at, end - at);
        results.emplace_back(one.substr(kStart.size(), one.find('"', kStart.size()) - kStart.size()), one);
        at = next == std::string::npos ? next : next + 1;
    }
    return results;
}

bool is_error(const std::string& result) { return result.find(R"("error")") != std::string::npos; }

}  // namespace

void Testimony::complain(const std::string& what) {
    const std::lock_guard lock{mutex_};
    if (complaints_.size() < kComplaintsMax) {
        complaints_.push_back(what);
    }
}

bool Testimony::content() {
    const std::lock_guard lock{mutex_};
    return complaints_.empty();
}

void Testimony::add(const std::map<std::string, Promise>& promises, std::chrono::milliseconds slowest) {
    const std::lock_guard lock{mutex_};
    promises_.insert(promises.begin(), promises.end());
    slowest_ = std::max(slowest_, slowest);
}

std::vector<Instant> RequestedTimes::all() const {
    return {now_ - 2h + 300ms, now_ + 1h + 300ms, now_ + 67min + 700ms, now_ + 75min + 1ms};
}

std::string RequestedTimes::any(std::mt19937& random) const { return format_instant(all()[random() % 4]); }

std::string RequestedTimes::ancient() const { return format_instant(now_ - 720h); }

std::string answer_sql(const std::string& event, const std::string& scheduled, const std::string& delay) {
    return R"(format('{"eventId":"%s","scheduledTime":"%s","delayMs":%s}', )" + event + ", to_char(" +
           scheduled + R"( at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), )" + delay + ")";
}

void HttpActor::step(Testimony& testimony) {
    const auto dice = random_() % 100;
    if (dice < 45) {
        assign(new_event(), testimony);
    } else if (dice < 48) {
        assign_ancient(testimony);
    } else if (dice < 58) {
        repeat(testimony);
    } else if (dice < 73) {
        cancel(testimony);
    } else if (dice < 83) {
        move(testimony);
    } else if (dice < 92) {
        batch(testimony);
    } else {
        atomic_batch(testimony);
    }
}

std::string HttpActor::known(Promise::Kind kind) {
    auto& events = by_kind_[kind];
    while (!events.empty()) {
        std::swap(events[random_() % events.size()], events.back());
        if (promises_[events.back()].kind == kind) {
            return events.back();
        }
        events.pop_back();
    }
    return {};
}

std::string HttpActor::member(const std::string& event) {
    return R"({"eventId":")" + event + R"(","configName":")" + (random_() % 4 == 0 ? "other" : "default") +
           R"(","weight":)" + std::to_string(random_() % 8 == 0 ? 1 + random_() % 3 : 1) +
           R"(,"requestedTime":")" + times_.any(random_) + R"("})";
}

std::optional<HttpAnswer> HttpActor::insist(const std::string& text, const std::set<int>& wanted,
                                            Testimony& testimony) {
    const auto deadline = steady_clock::now() + kPatience;
    std::string last = "no answer";
    for (std::size_t node = random_(); steady_clock::now() < deadline; ++node) {
        auto answer = lines_.attempt(node % SlotNodes::kCount, text);
        const bool again = !answer || kTryAgain.contains(answer->code());
        if (!again && wanted.contains(answer->status)) {
            return answer;
        }
        if (!again) {
            testimony.complain(answer->body + " for " + text.substr(text.rfind('\n') + 1));
            return std::nullopt;
        }
        last = answer ? answer->body : last;
        std::this_thread::sleep_for(20ms);  // As a client does that wants to be served.
    }
    testimony.complain("not answered in a minute, last: " + last + " for " +
                       text.substr(text.rfind('\n') + 1));
    return std::nullopt;
}

void HttpActor::assign(const std::string& event, Testimony& testimony) {
    if (const auto answer = insist(request_text("POST", "/api/v1/slots", member(event)), {200}, testimony)) {
        promises_[event] = {Promise::Kind::Assigned, answer->body};
        by_kind_[Promise::Kind::Assigned].push_back(event);
    }
}

void HttpActor::assign_ancient(Testimony& testimony) {
    const std::string body = R"({"eventId":")" + new_event() + R"(-ancient","configName":"ancient",)" +
                             R"("requestedTime":")" + times_.ancient() + R"("})";
    (void)insist(request_text("POST", "/api/v1/slots", body), {200}, testimony);
}

void HttpActor::repeat(Testimony& testimony) {
    const bool cancelled = random_() % 2 == 0;
    const std::string event = known(cancelled ? Promise::Kind::Cancelled : Promise::Kind::Assigned);
    if (event.empty()) {
        return;
    }
    const auto text = request_text("POST", "/api/v1/slots", member(event));
    const auto answer = insist(text, {cancelled ? 409 : 200}, testimony);
    if (answer && !cancelled && answer->body != promises_[event].answer) {
        testimony.complain(promises_[event].answer + " became " + answer->body);
    }
}

void HttpActor::cancel(Testimony& testimony) {
    const std::string event = known(Promise::Kind::Assigned);
    if (!event.empty() && insist(request_text("DELETE", "/api/v1/slots/" + event), {204}, testimony)) {
        promises_[event] = {Promise::Kind::Cancelled, ""};
        by_kind_[Promise::Kind::Cancelled].push_back(event);
    }
}

void HttpActor::move(Testimony& testimony) {
    const std::string event = known(Promise::Kind::Assigned);
    if (event.empty()) {
        return;
    }
    const std::string body = R"({"requestedTime":")" + times_.any(random_) + R"("})";
    if (const auto answer =
            insist(request_text("POST", "/api/v1/slots/" + event + "/move", body), {200}, testimony)) {
        promises_[event].answer = answer->body;
    }
}

void HttpActor::batch(Testimony& testimony) {
    std::string members;
    for (std::size_t i = 2 + random_() % 30; i > 0; --i) {
        members += (members.empty() ? "" : ",") + member(new_event());
    }
    const auto text = request_text("POST", "/api/v1/slots/batch", R"({"events":[)" + members + "]}");
    const auto answer = insist(text, {200}, testimony);
    for (const auto& [event, result] : answer ? results_of(answer->body) : results_of("")) {
        if (is_error(result)) {
            assign(event, testimony);
        } else {
            promises_[event] = {Promise::Kind::Assigned, result};
            by_kind_[Promise::Kind::Assigned].push_back(event);
        }
    }
}

// One of three has a member that was cancelled, at any place: then nobody may get anything.
void HttpActor::atomic_batch(Testimony& testimony) {
    const std::string refused = random_() % 3 == 0 ? known(Promise::Kind::Cancelled) : "";
    std::vector<std::string> events;
    std::generate_n(std::back_inserter(events), 2 + random_() % 30, [this] { return new_event(); });
    std::string members;
    for (const std::string& event : events) {
        members += (members.empty() ? "" : ",") + member(event);
        promises_[event] = {Promise::Kind::Absent, ""};
    }
    if (!refused.empty()) {
        members = random_() % 2 == 0 ? members + "," + member(refused) : member(refused) + "," + members;
    }
    const auto text =
        request_text("POST", "/api/v1/slots/batch", R"({"atomic":true,"events":[)" + members + "]}");
    const auto answer = insist(text, {refused.empty() ? 200 : 409}, testimony);
    for (const auto& [event, result] : answer&& refused.empty() ? results_of(answer->body) : results_of("")) {
        promises_[event] = {Promise::Kind::Assigned, result};
        by_kind_[Promise::Kind::Assigned].push_back(event);
    }
}

bool SqlActor::connected() {
    if (!connection_ || !connection_->usable()) {
        auto opened = postgres::Connection::open(test_settings(dsn_));
        connection_ = opened ? std::move(*opened) : nullptr;
    }
    return connection_ != nullptr;
}

std::optional<postgres::Rows> SqlActor::run(const std::string& sql, Testimony& testimony) {
    auto rows = connection_->run_script(sql);
    if (rows) {
        return std::move(*rows);
    }
    // Serialization failures, held locks and killed sessions are what the application retries.
    if (!rows.error().retryable() && !rows.error().connection_lost && rows.error().sqlstate != "SL409") {
        testimony.complain(rows.error().described() + " for " + sql);
    }
    return std::nullopt;
}

bool SqlActor::take_some(std::map<std::string, Promise>& taken, Testimony& testimony) {
    for (std::size_t i = 1 + random_() % 3; i > 0; --i) {
        const std::string event = name_ + "-" + std::to_string(++made_);
        taken[event] = {Promise::Kind::Absent, ""};
        const bool undone = random_() % 3 == 0;
        const auto rows = undone && !run("savepoint before", testimony)
                              ? std::nullopt
                              : run("select " + answer_sql("event_id", "scheduled_time", "delay_ms") +
                                        " from sluice.assign_slot('" + event + "', '" +
                                        (random_() % 4 == 0 ? "other" : "default") + "', '" +
                                        times_.any(random_) + "', " + std::to_string(1 + random_() % 2) + ")",
                                    testimony);
        if (!rows) {
            return false;
        }
        if (!undone) {
            taken[event] = {Promise::Kind::Assigned, std::string{rows->text(0, 0)}};
        } else if (!run("rollback to savepoint before", testimony)) {
            return false;
        }
    }
    return true;
}

void SqlActor::step(Testimony& testimony) {
    static constexpr std::array kLevels{"read committed", "repeatable read", "serializable"};
    if (!connected() || !run(std::string{"begin isolation level "} + kLevels[random_() % 3], testimony)) {
        return;
    }
    std::map<std::string, Promise> taken;
    bool whole = take_some(taken, testimony);
    if (whole && random_() % 10 == 0) {
        whole = run("select pg_sleep(" + std::to_string(0.001 * static_cast<double>(random_() % 300)) + ")",
                    testimony)
                    .has_value();
    }
    const bool committing = whole && random_() % 4 != 0;
    const bool ended =
        connection_->usable() && run(committing ? "commit" : "rollback", testimony).has_value();
    for (auto& [event, promise] : taken) {
        if (!committing) {
            promise = {Promise::Kind::Absent, ""};
        } else if (!ended && promise.kind == Promise::Kind::Assigned) {
            promise = {connection_->usable() ? Promise::Kind::Absent : Promise::Kind::Uncertain, ""};
        }
        promises_[event] = promise;
    }
}

}  // namespace sluice::test
