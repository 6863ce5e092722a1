#pragma once

#include <string_view>

namespace sluice::http {

// Whether a Host header's value names this machine itself: `localhost` or a loopback address, with or without
// a port. A web page whose name was made to lead here (DNS rebinding) still sends its own name.
bool is_local_host(std::string_view host);

// The same for an Origin: http or https, and such a host.
bool is_local_origin(std::string_view origin);

}  // namespace sluice::http
