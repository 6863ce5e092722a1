#pragma once

#include "app/dispatch/carrier.hpp"
#include "base/time.hpp"
#include "net/http_message.hpp"

namespace sluice::webhook {

// What the answer of a receiver means, or that there was none. `now` is for dates in it.
Delivery delivery_of(const net::HttpOutcome& outcome, Instant now);

}  // namespace sluice::webhook
