#include "carry/webhook/endpoint_book.hpp"

#include <algorithm>
#include <array>

#include "carry/webhook/signature.hpp"

namespace sluice::webhook {
namespace {

constexpr std::string_view kFilePrefix = "file:";
constexpr std::size_t kHeaderMax = 8192;
constexpr Duration kTimeoutMax = std::chrono::minutes{10};

using Words = std::vector<std::string>;

// Set by the connection or by the carrier: nobody could tell whose they are.
constexpr std::array<std::string_view, 15> kOwnHeaders = {
    "connection",      "content-length",    "expect",           "host",
    "idempotency-key", "keep-alive",        "proxy-connection", "te",
    "trailer",         "transfer-encoding", "upgrade",          "traceparent",
    "webhook-id",      "webhook-signature", "webhook-timestamp"};

bool is_token(std::string_view name) {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return !name.empty() && std::all_of(name.begin(), name.end(), [&](char letter) {
        const char lower = static_cast<char>(letter | 0x20);
        return (lower >= 'a' && lower <= 'z') || (letter >= '0' && letter <= '9') ||
               kMarks.find(letter) != std::string_view::npos;
    });
}

bool is_own(std::string_view name) {
    std::string lower{name};
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
    });
    return std::find(kOwnHeaders.begin(), kOwnHeaders.end(), lower) != kOwnHeaders.end();
}

bool is_value(std::string_view value) {
    return value.size() <= kHeaderMax && std::all_of(value.begin(), value.end(), [](char letter) {
               return static_cast<unsigned char>(letter) >= 0x20 && letter != 0x7F;
           });
}

std::string trimmed(const std::string& text) {
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
    return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

Result<Words, std::string> read_keys(const WebhookOptions& options, const Words& files) {
    Words keys;
    for (const std::string& file : files) {
        const auto text = options.read_file(file);
        if (!text) {
            return Unexpected{"The secret of webhooks " + file + " cannot be read: " + text.error() + "."};
        }
        auto key = parse_secret(*text);
        if (!key) {
            return Unexpected{"The secret of webhooks " + file + " " + key.error() +
                              "; it is base64, with or without whsec_ before it."};
        }
        keys.push_back(*std::move(key));
    }
    return keys;
}

using Header = std::pair<std::string, std::string>;

Result<Header, std::string> read_header(const WebhookOptions& options, const Header& header) {
    const auto& [name, value] = header;
    if (!is_token(name) || is_own(name)) {
        return Unexpected{"the header '" + name + "' cannot be set"};
    }
    std::string content = value;
    if (value.starts_with(kFilePrefix)) {
        const auto text = options.read_file(value.substr(kFilePrefix.size()));
        if (!text) {
            return Unexpected{"the header '" + name + "' cannot be read (" + value + "): " + text.error()};
        }
        content = trimmed(*text);
    }
    // Not with the value: it may be a secret.
    return is_value(content)
               ? Result<Header, std::string>{Header{name, std::move(content)}}
               : Unexpected{"the header '" + name +
                            "' has a value with control characters, or of more than 8192 bytes"};
}

bool is_timeout(Duration timeout) { return timeout > Duration{0} && timeout <= kTimeoutMax; }
constexpr std::string_view kTimeoutFault = "the time-out must be more than nothing and at most ten minutes";

Result<CallSettings, std::string> read_settings(const WebhookOptions& options,
                                                const EndpointSettings& endpoint) {
    if (!endpoint.proxy.empty()) {
        return Unexpected{std::string{"a proxy is not supported yet"}};
    }
    if (!is_timeout(endpoint.timeout)) {
        return Unexpected{std::string{kTimeoutFault}};
    }
    if (endpoint.max_concurrent == 0) {
        return Unexpected{std::string{"at least one call at a time must be allowed"}};
    }
    CallSettings settings{{endpoint.timeout, endpoint.max_concurrent}};
    for (const auto& header : endpoint.headers) {
        auto read = read_header(options, header);
        if (!read) {
            return Unexpected{std::move(read).error()};
        }
        settings.headers.push_back(*std::move(read));
    }
    return settings;
}

// The prefix ends where a part of the path does.
bool leads(std::string_view prefix, std::string_view endpoint) {
    return endpoint.starts_with(prefix) &&
           (prefix.ends_with('/') || endpoint.size() == prefix.size() || endpoint[prefix.size()] == '/');
}

}  // namespace

Result<EndpointBook, std::string> EndpointBook::read(const WebhookOptions& options) {
    EndpointBook book;
    auto usual = read_keys(options, options.secret_files);
    if (!usual) {
        return Unexpected{std::move(usual).error()};
    }
    book.usual_.keys = *std::move(usual);
    book.usual_.terms.timeout = options.timeout;
    if (!is_timeout(options.timeout)) {
        return Unexpected{"Webhooks: " + std::string{kTimeoutFault} + "."};
    }
    for (const EndpointSettings& endpoint : options.endpoints) {
        const std::string whose = "The endpoint '" + endpoint.url_prefix + "': ";
        const auto url = parse_webhook_url(endpoint.url_prefix);
        if (!url || url->has_query) {
            return Unexpected{whose + (url ? "it must have no query." : url.error().detail)};
        }
        auto settings = read_settings(options, endpoint);
        if (!settings) {
            return Unexpected{whose + settings.error() + "."};
        }
        auto keys = read_keys(options, endpoint.secret_files);
        if (!keys) {
            return Unexpected{std::move(keys).error()};
        }
        settings->keys = keys->empty() ? book.usual_.keys : *std::move(keys);
        book.entries_.push_back({url->endpoint(), *std::move(settings)});
    }
    std::sort(book.entries_.begin(), book.entries_.end(), [](const Entry& one, const Entry& other) {
        return std::pair{other.prefix.size(), std::string_view{one.prefix}} <
               std::pair{one.prefix.size(), std::string_view{other.prefix}};
    });
    for (std::size_t i = 1; i < book.entries_.size(); ++i) {
        if (book.entries_[i].prefix == book.entries_[i - 1].prefix) {
            return Unexpected{"The endpoint '" + book.entries_[i].prefix + "' is there twice."};
        }
    }
    return book;
}

const CallSettings& EndpointBook::find(const WebhookUrl& url) const {
    const std::string endpoint = url.endpoint();
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return leads(entry.prefix, endpoint); });
    return found == entries_.end() ? usual_ : found->settings;
}

}  // namespace sluice::webhook
