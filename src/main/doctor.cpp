#include "main/doctor.hpp"

#include <filesystem>
#include <ostream>
#include <sstream>

#include "base/iso8601.hpp"
#include "files/plans_file.hpp"
#include "main/doctor_data.hpp"
#include "main/doctor_kafka.hpp"
#include "main/doctor_postgres.hpp"
#include "main/doctor_redis.hpp"
#include "main/doctor_server.hpp"
#include "main/settings.hpp"

namespace sluice {
namespace {

Finding check_plans(const std::string& path) {
    PlanBook book;
    if (const auto loaded = load_plans_file(path, book); !loaded) {
        return {"plans", false, loaded.error(), "Correct the file; a running server keeps the plans it has."};
    }
    return {"plans", true, path + " holds " + std::to_string(book.current()->all().size()) + " plans."};
}

Finding check_certificate(const net::TlsFiles& files) {
    constexpr std::chrono::days kSoon{14};
    const std::string renew = "Put a new certificate and key in their place and send SIGHUP.";
    const auto opened = net::TlsServer::open(files, "http/1.1");
    if (!opened) {
        return {"TLS certificate", false, opened.error(),
                "Correct it; a running server keeps the certificate it has."};
    }
    const net::Validity validity = (*opened)->validity();
    const Instant now = SystemClock{}.now();
    if (const std::string fault = net::fault_of(validity, now); !fault.empty()) {
        return {"TLS certificate", false, files.certificate + " " + fault + ".", renew};
    }
    const std::string told = files.certificate + " is valid until " + format_instant(validity.until) + ".";
    return validity.until - now < kSoon ? Finding{"TLS certificate", false, told, renew}
                                        : Finding{"TLS certificate", true, told};
}

// The servers that --server names, one after the other.
Result<std::vector<CalledServer>, std::string> called_servers(const Invocation& invocation) {
    std::vector<CalledServer> servers;
    std::istringstream addresses{invocation.value("server")};
    for (std::string address; std::getline(addresses, address, ',');) {
        Invocation one = invocation;
        one.values["server"] = address;
        auto server = called_server(one);
        if (!server) {
            return Unexpected{server.error()};
        }
        servers.push_back(std::move(*server));
    }
    return servers;
}

bool on_this_machine(const CalledServer& server) {
    const auto resolved = net::resolve_listener(server.url.address);
    return resolved && net::is_loopback(*resolved);
}

class Doctor {
public:
    Doctor(const Invocation& invocation, const Environment& variables)
        : invocation_{invocation}, variables_{variables} {}

    Findings run(const std::vector<CalledServer>& servers) {
        // What needs the server stopped does not find its absence.
        if (!at_rest_ || invocation_.typed.contains("server")) {
            ask(servers);
        }
        const auto in_force = load_settings(flags(), variables_);
        if (!in_force) {
            findings_.insert(findings_.begin(),
                             {"settings", false, in_force.error(), "Correct it where the message says."});
            if (invocation_.has("data")) {
                check_data(invocation_.value("data"), wishes_, findings_);
            }
            return findings_;
        }
        findings_.insert(findings_.begin(),
                         {"settings", true, "They are valid; 'sluice serve --print-config' lists them."});
        look(in_force->settings);
        return findings_;
    }

private:
    void ask(const std::vector<CalledServer>& servers) {
        std::map<std::string, ServerFacts> by_address;
        for (const CalledServer& server : servers) {
            const auto facts = check_server(server, findings_);
            if (!facts) {
                continue;
            }
            by_address.emplace(server.url.address.text(), *facts);
            // Of a server elsewhere no file can be seen from here.
            if (!here_ && on_this_machine(server)) {
                here_ = *facts;
            }
        }
        compare_servers(by_address, findings_);
    }

    // What the command line says, and in its place what the server on this machine said it runs with.
    FlagValues flags() {
        FlagValues flags;
        for (const char* name : {"config", "data"}) {
            if (invocation_.has(name)) {
                flags[name] = invocation_.value(name);
            }
        }
        const auto own = load_settings(flags, variables_);
        if (!own || !here_) {
            return flags;
        }
        for (const SettingInForce& entry : own->entries) {
            const std::string key{entry.spec->key};
            const auto told = here_->settings.find(key);
            const bool is_path = key == "data" || key == "plans" || key.starts_with("tls");
            const bool wanted = is_path || key == "store" || key == "redis" || key == "kafka";
            if (!wanted || entry.origin != "default" || told == here_->settings.end()) {
                continue;
            }
            if (holds_mask(told->second)) {
                findings_.push_back(
                    {key, true, "The server's " + key + " has a password, which it does not show.",
                     "Give the address in " + entry.spec->variable() + "; it is looked at then."});
                continue;
            }
            flags[entry.spec->flag().substr(2)] =
                is_path ? (std::filesystem::path{here_->folder} / told->second).lexically_normal().string()
                        : told->second;
        }
        return flags;
    }

    void look(const Settings& settings) {
        if (!settings.plans.empty()) {
            findings_.push_back(check_plans(settings.plans));
        }
        if (settings.tls) {
            findings_.push_back(check_certificate(*settings.tls));
        }
        if (!settings.redis.address.empty()) {
            check_redis(settings.redis, findings_);
        }
        if (!settings.kafka.brokers.empty()) {
            findings_.push_back(check_kafka(settings.kafka));
        }
        if (settings.store == StoreKind::Postgres) {
            check_postgres(settings.postgres.dsn, wishes_.count_again, findings_);
            return;
        }
        std::error_code error;
        const bool named = invocation_.has("data") || at_rest_;
        if (named ||
            (settings.store == StoreKind::Embedded && std::filesystem::exists(settings.data, error))) {
            check_data(settings.data, wishes_, findings_);
        }
    }

    const Invocation& invocation_;
    const Environment& variables_;
    const DataWishes wishes_{invocation_.has("recount"), invocation_.has("accept-loss")};
    const bool at_rest_ = wishes_.need_rest();
    std::optional<ServerFacts> here_;
    Findings findings_;
};

}  // namespace

ExitCode doctor(const Invocation& invocation, const Environment& variables, std::ostream& out,
                std::ostream& errors) {
    const auto servers = called_servers(invocation);
    if (!servers) {
        return fail(errors, ExitCode::Usage, servers.error());
    }
    const Findings findings = Doctor{invocation, variables}.run(*servers);
    out << (invocation.wants_json() ? findings_json(findings) : findings_text(findings));
    return all_well(findings) ? ExitCode::Ok : ExitCode::Failed;
}

}  // namespace sluice
