#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/dispatch/carrier.hpp"
#include "carry/webhook/address_rules.hpp"

namespace sluice::webhook {

inline constexpr std::size_t kUrlMax = 2048;

// The codes of faults, as users read them.
inline constexpr std::string_view kInvalidTarget = "invalid_target";
inline constexpr std::string_view kCredentialsInUrl = "credentials_in_url";
inline constexpr std::string_view kForbiddenAddress = "forbidden_address";

// Where a webhook goes, in the one form that every such address has.
struct WebhookUrl {
    bool tls = false;
    std::string host;                  // In lower case; of IPv6 without brackets.
    std::optional<IpAddress> address;  // The host, when it is one.
    std::uint16_t port = 0;
    std::string path;   // Begins with /.
    std::string query;  // Without its ?; only its presence tells an empty one from none.
    bool has_query = false;

    // scheme://host:port/path, always with the port, never with the query.
    [[nodiscard]] std::string endpoint() const;
    // What is asked for: path and query.
    [[nodiscard]] std::string request_target() const;
};

// Reads an absolute URL of http or https, strictly by RFC 3986. Refused as well, because servers and clients
// read them in different ways: credentials, fragments, more than kUrlMax bytes, names that end in a dot or
// that are numbers in any other form than an address has, and paths with . or .. in them.
Result<WebhookUrl, TargetFault> parse_webhook_url(std::string_view text);

}  // namespace sluice::webhook
