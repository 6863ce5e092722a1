#include "app/dispatch/dispatch_service.hpp"

namespace sluice {
namespace {

// The host of an endpoint, with its port if it names one: what stands between the scheme and the path.
std::string_view authority_of(std::string_view endpoint) {
    constexpr std::string_view kMark = "://";
    const std::size_t mark = endpoint.find(kMark);
    if (mark == std::string_view::npos) {
        return {};
    }
    const std::string_view rest = endpoint.substr(mark + kMark.size());
    return rest.substr(0, rest.find('/'));
}

// Whether the endpoint is one of the host, which may be named with or without the port.
bool is_at(std::string_view endpoint, std::string_view host) {
    std::string_view authority = authority_of(endpoint);
    if (authority.empty() || authority == host) {
        return !authority.empty();
    }
    // Within brackets a colon belongs to the address.
    const std::size_t colon = authority.rfind(':');
    if (colon == std::string_view::npos || authority.ends_with(']')) {
        return false;
    }
    authority = authority.substr(0, colon);
    return authority == host ||
           (authority.starts_with('[') && authority.substr(1, authority.size() - 2) == host);
}

// The subjects that a resume of this one lets go: itself, and of a host the endpoints that are held.
std::vector<Subject> resumed_with(const DispatchTerms& terms, const Subject& subject) {
    std::vector<Subject> resumed{subject};
    for (const auto& [one, hold] : terms.holds) {
        if (subject.kind == SubjectKind::Host && one.kind == SubjectKind::Endpoint &&
            is_at(one.name, subject.name)) {
            resumed.push_back(one);
        }
    }
    return resumed;
}

Result<std::monostate, StoreError> release_all(WorkStore& store, const Subject& subject,
                                               const std::string& by) {
    const auto terms = store.terms();
    if (!terms) {
        return Unexpected{terms.error()};
    }
    for (const Subject& one : resumed_with(**terms, subject)) {
        if (const auto released = store.release(one, by); !released) {
            return Unexpected{released.error()};
        }
    }
    return std::monostate{};
}

// The same with nothing to tell.
Result<std::monostate, StoreError> done(const Result<void, StoreError>& result) {
    if (!result) {
        return Unexpected{result.error()};
    }
    return std::monostate{};
}

}  // namespace

DispatchService::DispatchService(DispatchServiceOptions options, DispatchServiceWorld world)
    : options_{options},
      world_{std::move(world)},
      queries_{world_.runtime, {1, options.queries_max, options.workers}, [](std::span<Query> batch) {
                   for (Query& query : batch) {
                       query();
                   }
                   return std::vector<std::monostate>(batch.size());
               }} {}

template <class T, class Call>
void DispatchService::ask(Call call, Done<T> done) {
    struct Asked {
        Call call;
        Done<T> done;
        std::optional<Result<T, DispatchError>> answer{};
    };
    const auto asked = std::make_shared<Asked>(Asked{std::move(call), std::move(done)});
    auto query = [this, asked] {
        auto result = asked->call(world_.store);
        if (!result) {
            world_.log.write(LogLevel::Warn, "Dispatch", "The store failed: " + result.error().what);
            asked->answer.emplace(Unexpected{DispatchError::Unavailable});
            return;
        }
        asked->answer.emplace(*std::move(result));
    };
    auto complete = [asked](const Result<std::monostate, Refusal>& result) {
        asked->done(result ? *std::move(asked->answer) : Unexpected{DispatchError::Overloaded});
    };
    queries_.submit({std::move(query), std::move(complete), world_.runtime.now() + options_.patience});
}

void DispatchService::list(WorkFilter filter, Done<WorkPage> done) {
    ask<WorkPage>([filter = std::move(filter)](WorkStore& store) { return store.list(filter); },
                  std::move(done));
}

void DispatchService::replay(ReplayRequest request, std::string by, Done<std::uint64_t> done) {
    ask<std::uint64_t>([request = std::move(request),
                        by = std::move(by)](WorkStore& store) { return store.replay(request, by); },
                       std::move(done));
}

void DispatchService::pause(Subject subject, std::string by, Done<std::monostate> done) {
    Hold hold{Hold::Why::Paused, world_.clock.now(), std::move(by)};
    ask<std::monostate>([subject = std::move(subject), hold = std::move(hold)](
                            WorkStore& store) { return sluice::done(store.hold(subject, hold)); },
                        std::move(done));
}

void DispatchService::resume(Subject subject, std::string by, Done<std::monostate> done) {
    ask<std::monostate>([subject = std::move(subject),
                         by = std::move(by)](WorkStore& store) { return release_all(store, subject, by); },
                        std::move(done));
}

void DispatchService::put_rate(Subject subject, std::optional<GateTerms> rate, std::string by,
                               Done<std::monostate> done) {
    ask<std::monostate>([subject = std::move(subject), rate, by = std::move(by)](
                            WorkStore& store) { return sluice::done(store.put_rate(subject, rate, by)); },
                        std::move(done));
}

void DispatchService::overview(Done<DispatchOverview> done) {
    const auto look = [figures = &world_.figures](WorkStore& store) -> Result<DispatchOverview, StoreError> {
        auto terms = store.terms();
        if (!terms) {
            return Unexpected{terms.error()};
        }
        auto counts = store.counts();
        if (!counts) {
            return Unexpected{counts.error()};
        }
        return DispatchOverview{*std::move(terms), *std::move(counts), (*figures)()};
    };
    ask<DispatchOverview>(look, std::move(done));
}

}  // namespace sluice
