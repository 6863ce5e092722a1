#pragma once

#include <array>
#include <optional>
#include <string_view>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>

#include "door/http/exchange.hpp"
#include "door/http/slot_json.hpp"
#include "door/http/strict_json.hpp"

namespace sluice::http {

// A body that must be one JSON object. Small ones live in the buffer inside.
class JsonBody {
public:
    explicit JsonBody(std::string_view text)
        : memory_{buffer_.data(), buffer_.size()}, value_{parse_strict_json(text, &memory_)} {}
    JsonBody(const JsonBody&) = delete;
    JsonBody& operator=(const JsonBody&) = delete;

    // Null: the text is not a JSON object.
    [[nodiscard]] const boost::json::object* object() const { return value_ ? value_->if_object() : nullptr; }

    static Problem malformed() { return {400, "malformed_json", "The body is not one JSON object."}; }

private:
    std::array<unsigned char, 2048> buffer_;
    boost::json::monotonic_resource memory_;
    std::optional<boost::json::value> value_;
};

// What bodies of this server's requests may leave out.
inline BodyDefaults body_defaults(const ServerWorld& world) {
    return {world.default_config, std::nullopt, world.clock.now() + kTenYears};
}

}  // namespace sluice::http
