#pragma once

#include <memory>
#include <string>

#include <boost/json/object.hpp>

#include "app/dispatch/carriers.hpp"
#include "app/dispatch/work_store.hpp"
#include "base/result.hpp"
#include "core/slots/slot.hpp"
#include "door/http/problem.hpp"

// How bodies tell the work that goes out at an event's time, and how it is told of.
namespace sluice::http {

// The body of an event: as it was read, and as it was sent.
struct EventBody {
    const boost::json::object& fields;
    std::string_view text;  // What `fields` was read from. Looked at for the payload only.
};

// What is needed to accept work.
struct WorkTerms {
    const Carriers* carriers = nullptr;  // Null: this server keeps no work.
    std::string_view traceparent{};      // Of the request; empty: none.
};

// Names the first field that does not belong into a target (unknown_field). REQUIRES: there are carriers.
std::optional<Problem> check_target(const boost::json::object& event);

// What the event brings along; null when it names no target. REQUIRES: there are carriers.
Result<std::shared_ptr<const WorkOrder>, Problem> read_work(const EventBody& event, const WorkTerms& terms);

// What a config says of dispatch.
Result<DispatchDraft, Problem> read_dispatch(const boost::json::object& config);

// Receiver when the field is absent.
Result<RateHolds, Problem> read_rate_holds(const boost::json::object& body);

// Appends ,"work":{...}.
void append_work(std::string& json, const WorkStory& story);
// Appends what a config says of dispatch, each field with a comma before it.
void append_dispatch(std::string& json, const DispatchDraft& draft);

}  // namespace sluice::http
