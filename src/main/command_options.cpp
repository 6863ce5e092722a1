#include "main/command_options.hpp"

namespace sluice {
namespace {

using Options = std::vector<OptionSpec>;

OptionSpec server() {
    return {"server",
            "URL",
            "The running server: host:port, http://... or https://...",
            ValueKind::Text,
            false,
            "http://127.0.0.1:8080",
            {},
            "SLUICE_SERVER"};
}

OptionSpec token_file() {
    return {"token-file",       "FILE", "File with the server's admin token", ValueKind::Text, false, "", {},
            "SLUICE_TOKEN_FILE"};
}

// How a server that is named by https:// is believed, and believes.
Options tls_options() {
    return {{"ca",
             "FILE",
             "Authority of the server's certificate; the system's when missing",
             ValueKind::Text,
             false,
             "",
             {},
             "SLUICE_CA"},
            {"client-cert",
             "FILE",
             "Certificate for a server that wants one",
             ValueKind::Text,
             false,
             "",
             {},
             "SLUICE_CLIENT_CERT"},
            {"client-key",
             "FILE",
             "Key of that certificate",
             ValueKind::Text,
             false,
             "",
             {},
             "SLUICE_CLIENT_KEY"}};
}

}  // namespace

OptionSpec output() {
    return {"output", "FORMAT",        "text, or json for programs", ValueKind::Choice, false,
            "text",   {"text", "json"}};
}

OptionSpec event_id() { return {"EVENT_ID", "", "The event", ValueKind::Text, true}; }

OptionSpec config_name() { return {"config-name", "NAME", "The config; the server's default when missing"}; }

std::vector<OptionSpec> with_server(std::vector<OptionSpec> own) {
    own.push_back(server());
    for (OptionSpec& option : tls_options()) {
        own.push_back(std::move(option));
    }
    own.push_back(output());
    return own;
}

std::vector<OptionSpec> with_admin(std::vector<OptionSpec> own) {
    own.push_back(token_file());
    return with_server(std::move(own));
}

}  // namespace sluice
