#include <algorithm>
#include <array>
#include <charconv>

#include <boost/json/array.hpp>

#include "base/hex.hpp"
#include "door/http/dispatch_json.hpp"
#include "door/http/json_fields.hpp"
#include "door/http/slot_json.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

constexpr std::size_t kReplayedMax = 1000;  // Named one by one.
constexpr std::size_t kHostMax = 255;
constexpr std::size_t kEndpointMax = 2048;

constexpr std::array<std::string_view, 4> kReplayKnown{"eventIds", "host", "since", "until"};
constexpr std::array<std::string_view, 4> kSubjectKnown{"configName", "pool", "host", "endpoint"};
constexpr std::array<std::string_view, 1> kGateKnown{"gate"};
constexpr std::array<std::string_view, 4> kRateKnown{"pool", "host", "maxPerSecond", "rateHolds"};

struct SubjectField {
    SubjectKind kind;
    std::string_view field;
};
constexpr std::array kSubjectFields{
    SubjectField{SubjectKind::Config, "configName"}, SubjectField{SubjectKind::Pool, "pool"},
    SubjectField{SubjectKind::Host, "host"}, SubjectField{SubjectKind::Endpoint, "endpoint"}};

Problem bad_subject(std::string_view field, std::string_view why) {
    return bad_field("invalid_subject", field, why);
}

// Hosts are the same in either case.
Result<std::string, Problem> read_host(std::string_view text) {
    const auto may_stand = [](char one) {
        return (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') ||
               std::string_view{".-_:[]"}.find(one) != std::string_view::npos;
    };
    std::string host{text};
    std::ranges::transform(host, host.begin(), [](char one) {
        return one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one;
    });
    if (host.empty() || host.size() > kHostMax || !std::ranges::all_of(host, may_stand)) {
        return Unexpected{bad_subject("host", "must be a name or an address, as pay.example or 192.0.2.7.")};
    }
    return host;
}

Result<std::string, Problem> read_endpoint(std::string_view text) {
    const std::size_t scheme = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
    const bool visible = std::ranges::all_of(text, [](char one) { return one > ' ' && one < '\x7f'; });
    if (scheme == 0 || text.size() == scheme || text.size() > kEndpointMax || !visible) {
        return Unexpected{bad_subject("endpoint", "must be a URL, as https://pay.example/hooks.")};
    }
    return std::string{text};
}

Result<std::string, Problem> read_subject_name(const SubjectField& subject, std::string_view text) {
    if (subject.kind == SubjectKind::Host) {
        return read_host(text);
    }
    if (subject.kind == SubjectKind::Endpoint) {
        return read_endpoint(text);
    }
    const auto name = ConfigName::make(text);
    if (!name) {
        return Unexpected{
            bad_subject(subject.field, "must be 1 to 128 bytes of UTF-8 without control characters.")};
    }
    return name->text();
}

// The one subject that a body names, of those that `fields` allow.
Result<Subject, Problem> read_one_subject(const json::object& body, const BodyFields& fields,
                                          std::string_view advice) {
    if (auto problem = check_known(body, fields)) {
        return Unexpected{*std::move(problem)};
    }
    std::optional<Subject> found;
    for (const SubjectField& subject : kSubjectFields) {
        const auto text = read_text(body, subject.field, "invalid_subject");
        if (!text) {
            return Unexpected{text.error()};
        }
        if (!*text) {
            continue;
        }
        if (found) {
            return Unexpected{bad("invalid_subject", std::string{advice})};
        }
        auto name = read_subject_name(subject, **text);
        if (!name) {
            return Unexpected{name.error()};
        }
        found = Subject{subject.kind, *std::move(name)};
    }
    if (!found) {
        return Unexpected{bad("invalid_subject", std::string{advice})};
    }
    return *std::move(found);
}

Result<std::vector<EventId>, Problem> read_event_ids(const json::object& body) {
    std::vector<EventId> ids;
    const json::value* value = body.if_contains("eventIds");
    if (value == nullptr) {
        return ids;
    }
    const json::array* list = value->if_array();
    if (list == nullptr || list->empty() || list->size() > kReplayedMax) {
        return Unexpected{bad("invalid_events", "eventIds must be a list of 1 to " +
                                                    std::to_string(kReplayedMax) + " events.")};
    }
    for (const json::value& one : *list) {
        auto id = read_event_id(one.is_string() ? view(one.get_string()) : "");
        if (!id) {
            return Unexpected{id.error()};
        }
        ids.push_back(*std::move(id));
    }
    return ids;
}

Result<std::optional<Instant>, Problem> read_optional_time(const json::object& body, std::string_view field,
                                                           Instant latest) {
    const auto text = read_text(body, field, "invalid_time");
    if (!text) {
        return Unexpected{text.error()};
    }
    if (!*text) {
        return std::optional<Instant>{};
    }
    const auto time = read_time(field, **text, latest);
    return time ? Result<std::optional<Instant>, Problem>{std::optional{*time}} : Unexpected{time.error()};
}

std::optional<WorkState> state_named(std::string_view name) {
    for (auto state = WorkState::Pending; state <= WorkState::Withdrawn;
         state = static_cast<WorkState>(static_cast<int>(state) + 1)) {
        if (name_of(state) == name) {
            return state;
        }
    }
    return std::nullopt;
}

std::optional<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) {
        return std::nullopt;
    }
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const auto high = hex_value(text[at]);
        const auto low = hex_value(text[at + 1]);
        if (!high || !low) {
            return std::nullopt;
        }
        bytes += static_cast<char>(*high * 16 + *low);
    }
    return bytes;
}

Result<std::size_t, Problem> read_limit(std::optional<std::string_view> text) {
    std::size_t limit = WorkFilter{}.limit;
    if (text) {
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), limit);
        if (error != std::errc{} || end != text->data() + text->size() || limit < 1 || limit > kWorkPageMax) {
            return Unexpected{
                bad_field("invalid_number", "limit",
                          "must be a whole number from 1 to " + std::to_string(kWorkPageMax) + ".")};
        }
    }
    return limit;
}

}  // namespace

Result<WorkFilter, Problem> read_work_filter(const Target& query) {
    WorkFilter filter;
    if (const auto state = query.parameter("state")) {
        filter.state = state_named(*state);
        if (!filter.state) {
            return Unexpected{bad("invalid_state",
                                  "state must be pending, claimed, sent, retrying, dead, parked, expired or "
                                  "withdrawn.")};
        }
    }
    if (const auto name = query.parameter("configName")) {
        const auto config = read_config_name(*name);
        if (!config) {
            return Unexpected{config.error()};
        }
        filter.config = *config;
    }
    if (const auto text = query.parameter("host")) {
        const auto host = read_host(*text);
        if (!host) {
            return Unexpected{host.error()};
        }
        filter.host = *host;
    }
    if (const auto text = query.parameter("after")) {
        auto after = from_hex(*text);
        if (!after || after->empty()) {
            return Unexpected{bad_field("invalid_after", "after", "must be what the page before gave.")};
        }
        filter.after = *std::move(after);
    }
    const auto limit = read_limit(query.parameter("limit"));
    if (!limit) {
        return Unexpected{limit.error()};
    }
    filter.limit = *limit;
    return filter;
}

Result<ReplayRequest, Problem> read_replay(const json::object& body, Instant latest) {
    if (auto problem = check_known(body, {"a replay", kReplayKnown})) {
        return Unexpected{*std::move(problem)};
    }
    if (body.empty()) {
        return Unexpected{bad("invalid_subject", "Name what to replay: eventIds, host, since or until.")};
    }
    ReplayRequest request;
    auto ids = read_event_ids(body);
    if (!ids) {
        return Unexpected{ids.error()};
    }
    request.event_ids = *std::move(ids);
    const auto host = read_text(body, "host", "invalid_subject");
    if (!host) {
        return Unexpected{host.error()};
    }
    if (*host) {
        const auto name = read_host(**host);
        if (!name) {
            return Unexpected{name.error()};
        }
        request.host = *name;
    }
    const auto since = read_optional_time(body, "since", latest);
    const auto until = read_optional_time(body, "until", latest);
    if (!since || !until) {
        return Unexpected{since ? until.error() : since.error()};
    }
    request.since = *since;
    request.until = *until;
    return request;
}

Result<Subject, Problem> read_subject(const json::object& body) {
    return read_one_subject(body, {"this request", kSubjectKnown},
                            "Name exactly one of configName, pool, host and endpoint.");
}

Result<RateDraft, Problem> read_rate(const json::object& body) {
    auto subject = read_one_subject(body, {"a rate", kRateKnown}, "Name exactly one of pool and host.");
    if (!subject) {
        return Unexpected{subject.error()};
    }
    const auto holds = read_rate_holds(body);
    if (!holds) {
        return Unexpected{holds.error()};
    }
    const json::value* rate = body.if_contains("maxPerSecond");
    if (rate != nullptr && rate->is_null()) {
        return RateDraft{*std::move(subject), std::nullopt};
    }
    const auto number = read_integer(body, "maxPerSecond", {1, kRateMax});
    if (!number) {
        return Unexpected{number.error()};
    }
    if (!*number) {
        return Unexpected{
            bad("invalid_number",
                "maxPerSecond is missing; it is a whole number, or null to take the rate away.")};
    }
    return RateDraft{*std::move(subject), GateTerms{static_cast<std::uint32_t>(**number), *holds}};
}

Result<Subject, Problem> read_gate(const json::object& body) {
    constexpr std::string_view kPool = "pool:";
    constexpr std::string_view kHost = "host:";
    if (auto problem = check_known(body, {"a permit", kGateKnown})) {
        return Unexpected{*std::move(problem)};
    }
    const auto gate = read_text(body, "gate", "invalid_gate");
    if (!gate) {
        return Unexpected{gate.error()};
    }
    const std::string_view text = gate->value_or("");
    const bool is_host = text.starts_with(kHost);
    const std::size_t prefix = is_host ? kHost.size() : text.starts_with(kPool) ? kPool.size() : 0;
    const SubjectField subject =
        is_host ? SubjectField{SubjectKind::Host, "host"} : SubjectField{SubjectKind::Pool, "pool"};
    auto name = read_subject_name(subject, text.substr(prefix));
    if (!name) {
        return Unexpected{
            bad_field("invalid_gate", "gate",
                      "must be pool:NAME, host:NAME or the name of a pool, as host:pay.example.")};
    }
    return Subject{subject.kind, *std::move(name)};
}

}  // namespace sluice::http
