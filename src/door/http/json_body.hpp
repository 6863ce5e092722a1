#pragma once

#include <array>
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

    // Null: the text is not a JSON object; problem() says why.
    [[nodiscard]] const boost::json::object* object() const { return value_ ? value_->if_object() : nullptr; }

    [[nodiscard]] Problem problem() const {
        if (!value_ && value_.error() == JsonFault::NotANumber) {
            return {400, "invalid_number", "NaN and Infinity are no numbers."};
        }
        return not_an_object();
    }
    static Problem not_an_object() { return {400, "malformed_json", "This is not one JSON object."}; }

private:
    std::array<unsigned char, 2048> buffer_;
    boost::json::monotonic_resource memory_;
    Result<boost::json::value, JsonFault> value_;
};

}  // namespace sluice::http
