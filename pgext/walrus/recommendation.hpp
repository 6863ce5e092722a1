#pragma once

#include "core/governor/wal_sizing.hpp"
#include "json_text.hpp"

namespace sluice::walrus {

// What would be done if the interval ended now. Changes nothing.
struct Recommendation {
    const char* action = "none";  // increase, decrease, none or error.
    const char* reason = "";
    Megabytes current = 0;
    Megabytes recommended = 0;
    std::int64_t requested = 0;
    int confidence = 0;

    [[nodiscard]] bool is_change() const { return recommended != current; }
};

Recommendation recommend();
void describe(const Recommendation& recommendation, JsonText& json);

}  // namespace sluice::walrus
