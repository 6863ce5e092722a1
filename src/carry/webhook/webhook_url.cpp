#include "carry/webhook/webhook_url.hpp"

#include <algorithm>
#include <charconv>

#include "base/hex.hpp"
#include "base/host_port.hpp"
#include "base/percent.hpp"

namespace sluice::webhook {
namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::size_t kLabelMax = 63;
constexpr std::uint16_t kPlainPort = 80;
constexpr std::uint16_t kTlsPort = 443;

Unexpected<TargetFault> invalid(std::string_view what) {
    return Unexpected{TargetFault{kInvalidTarget, "The URL " + std::string{what} + "."}};
}

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter; }

std::string lower_case(std::string_view text) {
    std::string lowered{text};
    std::transform(lowered.begin(), lowered.end(), lowered.begin(), lower);
    return lowered;
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_letter_or_digit(char letter) {
    return is_digit(letter) || (lower(letter) >= 'a' && lower(letter) <= 'z');
}

// Only letters that may stand there as they are, and %XX.
bool is_made_of(std::string_view text, std::string_view marks) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%') {
            if (i + 2 >= text.size() || !hex_value(text[i + 1]) || !hex_value(text[i + 2])) {
                return false;
            }
            i += 2;
        } else if (!is_letter_or_digit(text[i]) && marks.find(text[i]) == std::string_view::npos) {
            return false;
        }
    }
    return true;
}

// Calls `each` with every part, until it says false.
template <class Each>
bool all_parts(std::string_view text, char separator, Each each) {
    for (;;) {
        const std::size_t end = text.find(separator);
        if (!each(text.substr(0, end))) {
            return false;
        }
        if (end == std::string_view::npos) {
            return true;
        }
        text.remove_prefix(end + 1);
    }
}

bool has_dots(std::string_view path) {
    const std::string decoded = percent_decode(path).value_or("");
    return !all_parts(decoded, '/', [](std::string_view part) {
        return all_parts(part, '\\', [](std::string_view piece) { return piece != "." && piece != ".."; });
    });
}

// What resolvers may read as a number: 2130706433, 0x7f.1, 127.1.
bool ends_in_a_number(std::string_view host) {
    const std::string_view last = host.substr(host.rfind('.') + 1);  // All of it, if there is no dot.
    const bool hexadecimal =
        last.starts_with("0x") &&
        std::all_of(last.begin() + 2, last.end(), [](char letter) { return hex_value(letter).has_value(); });
    return hexadecimal || std::all_of(last.begin(), last.end(), is_digit);
}

bool is_name(std::string_view host) {
    return host.size() <= kNameMax && all_parts(host, '.', [](std::string_view label) {
               return !label.empty() && label.size() <= kLabelMax && label.front() != '-' &&
                      label.back() != '-' && std::all_of(label.begin(), label.end(), [](char letter) {
                          return is_letter_or_digit(letter) || letter == '-' || letter == '_';
                      });
           });
}

Result<void, TargetFault> read_host(std::string_view text, WebhookUrl& url) {
    if (text.empty()) {
        return invalid("has no host");
    }
    if (text.front() == '[') {
        const bool closed = text.size() > 2 && text.back() == ']';
        url.address = closed ? IpAddress::parse(text.substr(1, text.size() - 2)) : std::nullopt;
        if (!url.address || url.address->v4) {
            return invalid("has brackets around what is not an address of IPv6");
        }
        url.host = url.address->text();
        return {};
    }
    url.host = lower_case(text);
    if (!is_name(url.host)) {
        return invalid("has a host that is neither a name nor an address");
    }
    if (ends_in_a_number(url.host)) {
        url.address = IpAddress::parse(url.host);
        if (!url.address || url.address->text() != url.host) {
            return Unexpected{
                TargetFault{kForbiddenAddress,
                            "The host '" + url.host + "' is a number, but not an address as 192.0.2.1."}};
        }
    }
    return {};
}

Result<void, TargetFault> read_port(std::string_view digits, WebhookUrl& url) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
    const bool plain = !digits.empty() && error == std::errc{} && end == digits.data() + digits.size();
    return plain && url.port != 0 ? Result<void, TargetFault>{}
                                  : invalid("has a port that is not 1 to 65535");
}

Result<void, TargetFault> read_authority(std::string_view authority, WebhookUrl& url) {
    if (authority.find('@') != std::string_view::npos) {
        return Unexpected{TargetFault{
            kCredentialsInUrl, "The URL has credentials; headers of an endpoint can come from files."}};
    }
    const std::size_t bracket = authority.rfind(']');
    const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (auto read = read_host(authority.substr(0, colon), url); !read) {
        return read;
    }
    if (colon == std::string_view::npos) {
        url.port = url.tls ? kTlsPort : kPlainPort;
        return {};
    }
    return read_port(authority.substr(colon + 1), url);
}

}  // namespace

std::string WebhookUrl::endpoint() const {
    return (tls ? "https://" : "http://") + HostPort{host, port}.text() + path;
}

std::string WebhookUrl::request_target() const { return has_query ? path + "?" + query : path; }

Result<WebhookUrl, TargetFault> parse_webhook_url(std::string_view text) {
    constexpr std::string_view kMarks = "-._~!$&'()*+,;=:@/";
    if (text.size() > kUrlMax) {
        return invalid("is longer than 2048 bytes");
    }
    const std::size_t scheme_end = text.find("://");
    const std::string scheme = lower_case(text.substr(0, scheme_end));
    if (scheme_end == std::string_view::npos || (scheme != "http" && scheme != "https")) {
        return invalid("begins neither with http:// nor with https://");
    }
    if (text.find('#') != std::string_view::npos) {
        return invalid("has a fragment, which is never sent");
    }
    WebhookUrl url;
    url.tls = scheme == "https";
    const std::string_view rest = text.substr(scheme_end + 3);
    const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
    const std::size_t query = std::min(rest.find('?'), rest.size());
    if (auto read = read_authority(rest.substr(0, path), url); !read) {
        return Unexpected{read.error()};
    }
    url.path = path == query ? "/" : std::string{rest.substr(path, query - path)};
    url.has_query = query < rest.size();
    url.query = url.has_query ? std::string{rest.substr(query + 1)} : std::string{};
    if (!is_made_of(url.path, kMarks) || !is_made_of(url.query, std::string{kMarks} + "?")) {
        return invalid("holds characters that must be written as %XX");
    }
    if (has_dots(url.path)) {
        return invalid("has . or .. in its path");
    }
    return url;
}

}  // namespace sluice::webhook
