#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice::net {

// The front of a stream of HTTP/1.1 responses.
struct WireResponse {
    unsigned status = 0;
    std::size_t size = 0;   // Bytes of head and body together; more than are there means: read on.
    std::string_view body;  // As far as it is there.
    bool closes = false;    // The server ends the connection after it.
};

enum class WireState { Incomplete, Complete, Broken };

// Reads the first response of `bytes`, which a server of ours sent: with a length, never in chunks.
// Broken: not such a response.
WireState read_response(std::string_view bytes, WireResponse& response);

}  // namespace sluice::net
