#include <boost/json/object.hpp>

#include "door/http/audit.hpp"
#include "door/http/await_done.hpp"
#include "door/http/dispatch_desk.hpp"
#include "door/http/dispatch_json.hpp"
#include "door/http/json_body.hpp"
#include "door/http/target.hpp"

namespace sluice::http {
namespace {

template <class T>
using Outcome = Result<T, DispatchError>;

Response refuse_all() {
    return answer(Problem{400, "not_supported", "The store of this server keeps no work to dispatch."});
}

// What the reader makes of the body.
template <class T, class Read>
Result<T, Problem> read_body(const Request& request, Read read) {
    const JsonBody body{request.body};
    return body.object() == nullptr ? Result<T, Problem>{Unexpected{body.problem()}} : read(*body.object());
}

// An endpoint is known by the name that its carrier gives it.
void use_name_of_carrier(const DispatchDesk& desk, Subject& subject) {
    const Carrier* webhooks = desk.carriers == nullptr ? nullptr : desk.carriers->find(TargetKind::Webhook);
    if (subject.kind != SubjectKind::Endpoint || webhooks == nullptr) {
        return;
    }
    if (auto route = webhooks->route({TargetKind::Webhook, subject.name});
        route && !route->endpoint.empty()) {
        subject.name = std::move(route->endpoint);
    }
}

Result<Subject, Problem> named_subject(const DispatchDesk& desk, const Request& request) {
    auto subject = read_body<Subject>(request, read_subject);
    if (subject) {
        use_name_of_carrier(desk, *subject);
    }
    return subject;
}

}  // namespace

Answer list_work(const DispatchDesk& desk, const Request& request) {
    if (desk.dispatch == nullptr) {
        co_return refuse_all();
    }
    const auto query = parse_target(request.target);
    if (!query) {
        co_return answer(Problem{400, "malformed_request", "The query cannot be read."});
    }
    const auto filter = read_work_filter(*query);
    if (!filter) {
        co_return answer(filter.error());
    }
    auto start = [&](DispatchService::Done<WorkPage> done) { desk.dispatch->list(*filter, std::move(done)); };
    const auto page = co_await await_done<Outcome<WorkPage>>(start);
    co_return *page ? answer_json(work_page_json(**page)) : answer(to_problem(page->error()));
}

Answer show_dispatch(const DispatchDesk& desk, const Request& /*request*/) {
    if (desk.dispatch == nullptr) {
        co_return refuse_all();
    }
    auto start = [&](DispatchService::Done<DispatchOverview> done) {
        desk.dispatch->overview(std::move(done));
    };
    const auto overview = co_await await_done<Outcome<DispatchOverview>>(start);
    co_return *overview ? answer_json(overview_json(**overview)) : answer(to_problem(overview->error()));
}

Answer replay_work(const DispatchDesk& desk, const Request& request) {
    if (desk.dispatch == nullptr) {
        co_return refuse_all();
    }
    const Instant latest = desk.clock.now() + kTenYears;
    const auto read = [&](const boost::json::object& body) { return read_replay(body, latest); };
    const auto wanted = read_body<ReplayRequest>(request, read);
    if (!wanted) {
        co_return answer(wanted.error());
    }
    auto start = [&](DispatchService::Done<std::uint64_t> done) {
        desk.dispatch->replay(*wanted, who(request), std::move(done));
    };
    const auto replayed = co_await await_done<Outcome<std::uint64_t>>(start);
    if (!*replayed) {
        co_return answer(to_problem(replayed->error()));
    }
    const std::string count = std::to_string(**replayed);
    audit(desk.log, request, "replayed " + count + " dead works");
    co_return answer_json(R"({"replayed":)" + count + "}");
}

Answer pause_dispatch(const DispatchDesk& desk, const Request& request) {
    if (desk.dispatch == nullptr) {
        co_return refuse_all();
    }
    const auto subject = named_subject(desk, request);
    if (!subject) {
        co_return answer(subject.error());
    }
    auto start = [&](DispatchService::Done<std::monostate> done) {
        desk.dispatch->pause(*subject, who(request), std::move(done));
    };
    const auto paused = co_await await_done<Outcome<std::monostate>>(start);
    if (!*paused) {
        co_return answer(to_problem(paused->error()));
    }
    audit(desk.log, request, "paused dispatch to " + described(*subject));
    co_return answer_json(subject_json("paused", *subject));
}

Answer resume_dispatch(const DispatchDesk& desk, const Request& request) {
    if (desk.dispatch == nullptr) {
        co_return refuse_all();
    }
    const auto subject = named_subject(desk, request);
    if (!subject) {
        co_return answer(subject.error());
    }
    auto start = [&](DispatchService::Done<std::monostate> done) {
        desk.dispatch->resume(*subject, who(request), std::move(done));
    };
    const auto resumed = co_await await_done<Outcome<std::monostate>>(start);
    if (!*resumed) {
        co_return answer(to_problem(resumed->error()));
    }
    audit(desk.log, request, "resumed dispatch to " + described(*subject));
    co_return answer_json(subject_json("resumed", *subject));
}

Answer put_dispatch_rate(const DispatchDesk& desk, const Request& request) {
    if (desk.dispatch == nullptr) {
        co_return refuse_all();
    }
    const auto draft = read_body<RateDraft>(request, read_rate);
    if (!draft) {
        co_return answer(draft.error());
    }
    auto start = [&](DispatchService::Done<std::monostate> done) {
        desk.dispatch->put_rate(draft->subject, draft->rate, who(request), std::move(done));
    };
    const auto put = co_await await_done<Outcome<std::monostate>>(start);
    if (!*put) {
        co_return answer(to_problem(put->error()));
    }
    audit(desk.log, request,
          "set the rate of " + described(draft->subject) + " to " +
              (draft->rate ? std::to_string(draft->rate->max_per_second) + " a second" : "none"));
    co_return answer_json(rate_json(*draft));
}

}  // namespace sluice::http
