#pragma once

#include <string>
#include <utility>
#include <vector>

#include "carry/webhook/webhook_carrier.hpp"
#include "carry/webhook/webhook_url.hpp"

namespace sluice::webhook {

// How one call is made, with all that stands in files.
struct CallSettings {
    CallTerms terms{};
    std::vector<std::string> keys{};  // To sign with.
    std::vector<std::pair<std::string, std::string>> headers{};
};

// What holds for each URL.
// Thread safety: immutable.
class EndpointBook {
public:
    // Reads the files. Fails with one sentence.
    static Result<EndpointBook, std::string> read(const WebhookOptions& options);

    // Those of the longest prefix of the URL, or the usual ones.
    [[nodiscard]] const CallSettings& find(const WebhookUrl& url) const;

private:
    struct Entry {
        std::string prefix;  // As an endpoint is written.
        CallSettings settings;
    };

    std::vector<Entry> entries_;  // The longest prefix first.
    CallSettings usual_;
};

}  // namespace sluice::webhook
