#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/slots/slot.hpp"

namespace sluice::webhook {

// Reads a secret as https://www.standardwebhooks.com writes it: base64, with or without `whsec_` before it;
// white space around it does not count. The result is the key itself. Fails with the reason, which never
// holds any of the secret: "is not base64".
Result<std::string, std::string> parse_secret(std::string_view text);

// The same for every try of an event, in letters that any header can hold.
std::string webhook_id(const EventId& event_id);

// Base64 of HMAC-SHA256 over `id.timestamp.body`, as "v1,..." for each key, separated by spaces: a receiver
// that knows any of the keys finds its own. REQUIRES: keys is not empty.
std::string webhook_signature(const std::vector<std::string>& keys, std::string_view id,
                              std::string_view timestamp, std::string_view body);

// The event's id as a header can hold it: visible ASCII without % as it is, every other byte as %XX, so that
// two events never have the same.
std::string idempotency_key(const EventId& event_id);

}  // namespace sluice::webhook
