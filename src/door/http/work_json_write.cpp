#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "door/http/target_words.hpp"
#include "door/http/work_json.hpp"

namespace sluice::http {
namespace {

std::string_view name_of(AuditLine::Action action) {
    switch (action) {
        case AuditLine::Action::Attempt: return "attempt";
        case AuditLine::Action::Lost: return "lost";
        case AuditLine::Action::GivenUp: return "givenUp";
        case AuditLine::Action::Replayed: return "replayed";
        case AuditLine::Action::Cancelled: return "cancelled";
        case AuditLine::Action::Moved: return "moved";
        case AuditLine::Action::Paused: return "paused";
        case AuditLine::Action::Resumed: return "resumed";
        case AuditLine::Action::Rated: return "rated";
    }
    return "";
}

// What an attempt has beside what every line has, in an order that reads as it happened.
std::string audit_json(const AuditLine& line) {
    JsonObject json;
    json.text("action", name_of(line.action)).text("at", format_instant(line.at));
    if (line.attempt > 0) {
        json.number("attempt", line.attempt);
    }
    if (line.status > 0) {
        json.number("status", line.status);
    }
    if (line.action == AuditLine::Action::Attempt) {
        json.number("latencyMs", line.latency.count());
    }
    json.text("by", line.by);
    if (!line.error.empty()) {
        json.text("error", line.error);
    }
    if (!line.excerpt.empty()) {
        json.text("excerpt", line.excerpt);
    }
    return json.done();
}

std::string target_json(const sluice::Target& target) {
    const TargetWords& words = words_of(target.kind);
    JsonObject json;
    json.text("type", words.type);
    if (!words.address.empty()) {
        json.text(words.address, target.address);
    }
    return json.done();
}

}  // namespace

void append_work(std::string& json, const WorkStory& story) {
    const Work& work = story.work;
    JsonObject fields;
    fields.text("state", name_of(work.state)).number("attempts", work.attempts);
    const bool waits = work.state == WorkState::Pending || work.state == WorkState::Retrying ||
                       work.state == WorkState::Parked;
    if (waits) {
        fields.text("nextAttempt", format_instant(work.due));
    }
    fields.raw("target", target_json(story.order.target));
    if (work.expires) {
        fields.text("expires", format_instant(*work.expires));
    }
    std::string audit = "[";
    for (const AuditLine& line : story.audit) {
        audit += audit.back() == '[' ? "" : ",";
        audit += audit_json(line);
    }
    fields.raw("audit", audit + "]");
    json += R"(,"work":)" + fields.done();
}

void append_dispatch(std::string& json, const DispatchDraft& draft) {
    JsonObject fields;
    if (draft.rate) {
        fields.number("maxPerSecond", draft.rate->max_per_second)
            .text("rateHolds", name_of(draft.rate->holds));
    }
    if (draft.expires_after) {
        fields.text("expiresAfter", format_duration(*draft.expires_after));
    }
    if (draft.retries) {
        std::string pauses = "[";
        for (const Duration pause : draft.retries->pauses()) {
            pauses += pauses.back() == '[' ? "\"" : ",\"";
            pauses += format_duration(pause) + '"';
        }
        fields.raw("retrySchedule", pauses + "]");
    }
    if (const std::string object = fields.done(); object != "{}") {
        json += ',' + object.substr(1, object.size() - 2);
    }
}

}  // namespace sluice::http
