#include "door/http/json_fields.hpp"

#include <algorithm>
#include <vector>

#include "base/iso8601.hpp"
#include "base/nearest.hpp"

namespace sluice::http {
namespace {

constexpr std::size_t kNameShownMax =
    64;  // A longer one is cut: it is the sender's, and may be of any length.

bool has(std::span<const std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string shown(std::string_view name) {
    if (name.size() <= kNameShownMax) {
        return std::string{name};
    }
    std::size_t end = kNameShownMax;
    while ((static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) {
        --end;  // Not inside a character.
    }
    return std::string{name.substr(0, end)} + "...";
}

// The known names that the sender may have meant: the nearest, or all when none is near.
std::string advice(std::string_view name, std::span<const std::string_view> known) {
    const std::vector<std::string> names{known.begin(), known.end()};
    if (name.size() <= kNameShownMax) {
        const std::string nearest = nearest_of(name, names);
        if (edit_distance(name, nearest) <= std::max<std::size_t>(2, nearest.size() / 3)) {
            return "did you mean " + nearest + "?";
        }
    }
    std::string all = "it has ";
    for (const std::string& one : names) {
        all += (&one == &names.front() ? "" : ", ") + one;
    }
    return all + ".";
}

}  // namespace

std::optional<Problem> check_known(const boost::json::object& body, const BodyFields& fields) {
    for (const auto& field : body) {
        const std::string_view name{field.key().data(), field.key().size()};
        if (!has(fields.known, name) && !has(fields.later, name)) {
            return bad("unknown_field", shown(name) + " is not a field of " + std::string{fields.of} + "; " +
                                            advice(name, fields.known));
        }
    }
    return std::nullopt;
}

std::optional<Problem> check_supported(const boost::json::object& body, const BodyFields& fields) {
    for (const std::string_view field : fields.later) {
        if (body.contains(field)) {
            return bad_field("not_supported", field, "is not supported by this version.");
        }
    }
    return std::nullopt;
}

Result<std::optional<Duration>, Problem> read_duration(const boost::json::object& body,
                                                       std::string_view field) {
    const auto text = read_text(body, field, "invalid_duration");
    if (!text) {
        return Unexpected{text.error()};
    }
    if (!*text) {
        return std::optional<Duration>{};
    }
    const auto duration = parse_duration(**text);
    if (!duration) {
        return Unexpected{
            bad_field("invalid_duration", field,
                      "must be an ISO-8601 duration like PT4S, PT0.5S, PT10M or P1D: positive, in whole "
                      "milliseconds, at most P31D.")};
    }
    return std::optional{*duration};
}

}  // namespace sluice::http
