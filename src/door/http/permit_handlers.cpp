// Places at gates for those who make calls themselves.
#include <algorithm>

#include "base/hex.hpp"
#include "door/http/await_done.hpp"
#include "door/http/dispatch_desk.hpp"
#include "door/http/dispatch_json.hpp"
#include "door/http/json_body.hpp"

namespace sluice::http {
namespace {

Response refuse_permits() {
    return answer(Problem{400, "not_supported", "The store of this server keeps no work to dispatch."});
}

Problem problem_of(const PermitRefusal& refusal) {
    switch (refusal.why) {
        case PermitRefusal::Why::NoGate:
            return {404, "unknown_gate",
                    "This gate has no rate. PUT /admin/dispatch/rates gives one, 'maxPerSecond' of a config "
                    "too."};
        case PermitRefusal::Why::NotKeeper:
            return {503, "not_keeper",
                    "Another node keeps the gates now: ask the others, or this one again shortly."};
        case PermitRefusal::Why::Busy: break;
        case PermitRefusal::Why::Overloaded: return to_problem(DispatchError::Overloaded);
        case PermitRefusal::Why::Unavailable: return to_problem(DispatchError::Unavailable);
    }
    return {429, "gate_busy", "All places of the next two seconds are taken.",
            std::chrono::ceil<std::chrono::seconds>(refusal.retry_after).count()};
}

}  // namespace

Answer ask_permit(const DispatchDesk& desk, const Request& request) {
    if (desk.permits == nullptr) {
        co_return refuse_permits();
    }
    const JsonBody body{request.body};
    if (body.object() == nullptr) {
        co_return answer(body.problem());
    }
    const auto gate = read_gate(*body.object());
    if (!gate) {
        co_return answer(gate.error());
    }
    auto start = [&](PermitOffice::Asked done) { desk.permits->ask(*gate, std::move(done)); };
    const auto given = co_await await_done<Result<GivenPermit, PermitRefusal>>(start);
    co_return *given ? answer_json(permit_json(**given)) : answer(problem_of(given->error()));
}

Answer end_permit(const DispatchDesk& desk, const Request& request) {
    if (desk.permits == nullptr) {
        co_return refuse_permits();
    }
    const bool is_permit =
        request.capture.size() == PermitOffice::kIdSize &&
        std::ranges::all_of(request.capture, [](char one) { return hex_value(one).has_value(); });
    if (!is_permit) {
        co_return answer(Problem{400, "invalid_permit", "A permit is what POST /api/v1/permits gave."});
    }
    auto start = [&](PermitOffice::Ended done) { desk.permits->end(request.capture, std::move(done)); };
    const auto ended = co_await await_done<bool>(start);
    co_return *ended ? Response{204, {}, {}} : answer(to_problem(DispatchError::Unavailable));
}

}  // namespace sluice::http
