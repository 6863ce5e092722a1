#include "json_text.hpp"

#include <ctime>
#include <type_traits>

namespace sluice::walrus {

static_assert(std::is_trivially_destructible_v<JsonText>);

JsonText::JsonText() {
    initStringInfo(&bytes_);
    appendStringInfoChar(&bytes_, '{');
}

void JsonText::key(const char* name) {
    if (bytes_.len > 1) {
        appendStringInfoString(&bytes_, ", ");
    }
    escape_json(&bytes_, name);
    appendStringInfoString(&bytes_, ": ");
}

void JsonText::number(const char* name, std::int64_t value) {
    key(name);
    appendStringInfo(&bytes_, INT64_FORMAT, value);
}

void JsonText::real(const char* name, double value) {
    key(name);
    appendStringInfo(&bytes_, "%g", value);
}

void JsonText::flag(const char* name, bool value) {
    key(name);
    appendStringInfoString(&bytes_, value ? "true" : "false");
}

void JsonText::text(const char* name, const char* value) {
    key(name);
    escape_json(&bytes_, value);
}

void JsonText::null(const char* name) {
    key(name);
    appendStringInfoString(&bytes_, "null");
}

void JsonText::time(const char* name, std::int64_t unix_seconds) {
    if (unix_seconds <= 0) {
        null(name);
    } else {
        text(name, utc_text(unix_seconds));
    }
}

void JsonText::object(const char* name, JsonText& value) {
    key(name);
    appendStringInfoString(&bytes_, value.finish());
}

const char* JsonText::finish() {
    if (!closed_) {
        appendStringInfoChar(&bytes_, '}');
        closed_ = true;
    }
    return bytes_.data;
}

Datum JsonText::finish_jsonb() { return DirectFunctionCall1(jsonb_in, CStringGetDatum(finish())); }

const char* utc_text(std::int64_t unix_seconds) {
    const auto seconds = static_cast<std::time_t>(unix_seconds);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return psprintf("%04d-%02d-%02dT%02d:%02d:%02d.000000+00:00", parts.tm_year + 1900, parts.tm_mon + 1,
                    parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace sluice::walrus
