#pragma once

#include <string>
#include <string_view>

#include "app/dispatch/dispatch_error.hpp"
#include "app/limits/limit_answer.hpp"
#include "app/slots/slot_store.hpp"

namespace sluice::http {

// Why a request was refused, as the body application/problem+json tells it.
struct Problem {
    unsigned status;
    std::string_view code;                 // Stable, for programs. Static storage.
    std::string detail;                    // One sentence, for people.
    std::int64_t retry_after_seconds = 1;  // When to come back after 503 and 429.
};

Problem to_problem(const SlotError& error);
Problem to_problem(const LimitError& error);
Problem to_problem(DispatchError error);

// The whole body: type, title, status, code, detail.
std::string problem_json(const Problem& problem);

// The short form inside batches and streams: {"code","status","detail"}.
void append_problem(std::string& json, const Problem& problem);

// The standard's words for a status, for example "Not Found".
std::string_view reason_phrase(unsigned status);

}  // namespace sluice::http
