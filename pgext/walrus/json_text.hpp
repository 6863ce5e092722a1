#pragma once

#include <cstdint>

#include "postgres_api.hpp"

namespace sluice::walrus {

// One JSON object, written member by member. Its bytes belong to the memory context it was begun in: there is
// nothing to release. Thread safety: none.
class JsonText {
public:
    JsonText();

    void number(const char* name, std::int64_t value);
    void real(const char* name, double value);
    void flag(const char* name, bool value);
    void text(const char* name, const char* value);
    void null(const char* name);
    // Seconds since 1970 as UTC text; null for "never": zero or less.
    void time(const char* name, std::int64_t unix_seconds);
    void object(const char* name, JsonText& value);

    // Closes the object. Nothing may be written after it.
    const char* finish();
    Datum finish_jsonb();

private:
    void key(const char* name);

    StringInfoData bytes_;
    bool closed_ = false;
};

// "2030-01-01T09:00:00.000000+00:00"
const char* utc_text(std::int64_t unix_seconds);

}  // namespace sluice::walrus
