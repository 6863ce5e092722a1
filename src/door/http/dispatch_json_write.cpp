#include <array>

#include "base/hex.hpp"
#include "base/iso8601.hpp"
#include "base/json_text.hpp"
#include "door/http/dispatch_json.hpp"
#include "door/http/target_words.hpp"

namespace sluice::http {
namespace {

std::string_view name_of(SubjectKind kind) {
    switch (kind) {
        case SubjectKind::Config: return "configName";
        case SubjectKind::Pool: return "pool";
        case SubjectKind::Host: return "host";
        case SubjectKind::Endpoint: return "endpoint";
    }
    return "";
}

std::string_view name_of(LaneKind kind) {
    switch (kind) {
        case LaneKind::Due: return "due";
        case LaneKind::Pool: return "pool";
        case LaneKind::Late: return "late";
        case LaneKind::Host: return "host";
        case LaneKind::Endpoint: return "endpoint";
        case LaneKind::Config: return "config";
        case LaneKind::Claimed: return "claimed";
        case LaneKind::Dead: return "dead";
    }
    return "";
}

std::string hex_of(std::string_view bytes) {
    std::string text;
    for (const char one : bytes) {
        append_hex(text, static_cast<unsigned char>(one), 2);
    }
    return text;
}

// Lists join what an object each has, without the last comma.
void append_object(std::string& list, const JsonObject& object) {
    list += list.back() == '[' ? "" : ",";
    list += object.done();
}

JsonObject work_object(const Work& work) {
    JsonObject json;
    json.text("eventId", work.event_id.text())
        .text("configName", work.config.text())
        .text("pool", work.pool.text())
        .text("target", words_of(work.target).type);
    if (!work.route.host.empty()) {
        json.text("host", work.route.host);
    }
    if (!work.route.endpoint.empty()) {
        json.text("endpoint", work.route.endpoint);
    }
    json.text("scheduledTime", format_instant(work.scheduled))
        .text("state", sluice::name_of(work.state))
        .number("attempts", work.attempts);
    switch (work.state) {
        case WorkState::Pending:
        case WorkState::Retrying:
        case WorkState::Parked: json.text("nextAttempt", format_instant(work.due)); break;
        case WorkState::Claimed: break;
        default: json.text("since", format_instant(work.due)); break;
    }
    if (work.expires) {
        json.text("expires", format_instant(*work.expires));
    }
    return json;
}

std::string holds_json(const DispatchTerms& terms) {
    std::string list = "[";
    for (const auto& [subject, hold] : terms.holds) {
        JsonObject json;
        json.text("kind", name_of(subject.kind))
            .text("name", subject.name)
            .text("why", hold.why == Hold::Why::Gone ? "gone" : "paused")
            .text("since", format_instant(hold.since))
            .text("by", hold.by);
        append_object(list, json);
    }
    return list + "]";
}

// Of the permits only this process knows; a gate that it has not used has none out.
std::size_t used_of(const DispatchFigures& figures, const Subject& subject) {
    for (const GateFigures& gate : figures.gates) {
        if (gate.subject == subject) {
            return gate.out;
        }
    }
    return 0;
}

std::string gates_json(const DispatchOverview& overview) {
    std::string list = "[";
    for (const auto& [subject, terms] : overview.terms->gates) {
        JsonObject json;
        json.text("kind", name_of(subject.kind))
            .text("name", subject.name)
            .number("maxPerSecond", terms.max_per_second)
            .text("rateHolds", sluice::name_of(terms.holds))
            .number("used", used_of(overview.figures, subject));
        append_object(list, json);
    }
    return list + "]";
}

std::string counts_json(const std::vector<LaneCount>& counts) {
    constexpr std::array kKinds{LaneKind::Due,      LaneKind::Pool,   LaneKind::Late,    LaneKind::Host,
                                LaneKind::Endpoint, LaneKind::Config, LaneKind::Claimed, LaneKind::Dead};
    JsonObject json;
    for (const LaneKind kind : kKinds) {
        std::uint64_t works = 0;
        for (const LaneCount& count : counts) {
            works += count.kind == kind ? count.works : 0;
        }
        json.number(name_of(kind), works);
    }
    return json.done();
}

}  // namespace

std::string work_page_json(const WorkPage& page) {
    std::string list = "[";
    for (const Work& work : page.works) {
        append_object(list, work_object(work));
    }
    list += ']';
    JsonObject json;
    json.raw("work", list);
    if (page.after.empty()) {
        json.raw("after", "null");
    } else {
        json.text("after", hex_of(page.after));  // Whatever the store puts into it, it can be typed.
    }
    return json.done();
}

std::string overview_json(const DispatchOverview& overview) {
    return JsonObject{}
        .raw("holds", holds_json(*overview.terms))
        .raw("gates", gates_json(overview))
        .raw("counts", counts_json(overview.counts))
        .number("inFlight", overview.figures.in_flight)
        .number("failingEndpoints", overview.figures.failing_endpoints)
        .done();
}

std::string subject_json(std::string_view status, const Subject& subject) {
    return JsonObject{}
        .text("status", status)
        .text("kind", name_of(subject.kind))
        .text("name", subject.name)
        .done();
}

std::string rate_json(const RateDraft& draft) {
    JsonObject json;
    json.text("kind", name_of(draft.subject.kind)).text("name", draft.subject.name);
    if (draft.rate) {
        json.number("maxPerSecond", draft.rate->max_per_second)
            .text("rateHolds", sluice::name_of(draft.rate->holds));
    } else {
        json.raw("maxPerSecond", "null");
    }
    return json.done();
}

std::string described(const Subject& subject) {
    return std::string{name_of(subject.kind)} + " " + subject.name;
}

std::string permit_json(const GivenPermit& permit) {
    return R"({"permit":")" + permit.id + R"(","notBefore":")" + format_instant(permit.not_before) +
           R"(","validMs":)" + std::to_string(PermitOffice::kValid.count()) + "}";
}

}  // namespace sluice::http
