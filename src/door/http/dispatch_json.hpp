#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "app/dispatch/dispatch_service.hpp"
#include "app/dispatch/permit_office.hpp"
#include "base/result.hpp"
#include "door/http/problem.hpp"
#include "door/http/target.hpp"

namespace sluice::http {

// Readers. A problem names the field and what is wrong with it; nothing was changed.
Result<WorkFilter, Problem> read_work_filter(const Target& query);
// No time may be later than `latest`.
Result<ReplayRequest, Problem> read_replay(const boost::json::object& body, Instant latest);
// Exactly one of configName, pool, host and endpoint.
Result<Subject, Problem> read_subject(const boost::json::object& body);

// What a pool or a host is to be held to.
struct RateDraft {
    Subject subject;
    std::optional<GateTerms> rate;  // Nothing: its rate is taken away.
};
Result<RateDraft, Problem> read_rate(const boost::json::object& body);

// The gate that somebody asks for a place: "pool:NAME", "host:NAME", or the name of a pool alone.
Result<Subject, Problem> read_gate(const boost::json::object& body);

// Writers.
std::string permit_json(const GivenPermit& permit);
std::string work_page_json(const WorkPage& page);
std::string overview_json(const DispatchOverview& overview);
// What was done, to whom: {"status","kind","name"}.
std::string subject_json(std::string_view status, const Subject& subject);
std::string rate_json(const RateDraft& draft);
// For the log: "host pay.example".
std::string described(const Subject& subject);

}  // namespace sluice::http
