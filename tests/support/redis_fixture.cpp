#include "support/redis_fixture.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace sluice::test {
namespace {

using std::chrono::seconds;

// The script's time: an argument that only tests send. Keys stay, because their time is not the server's.
constexpr std::string_view kGivenTime =
    "local now = tonumber(ARGV[#ARGV])\n"
    "local function keep_until() end\n";

redis::Deadline soon() { return std::chrono::steady_clock::now() + seconds{30}; }

template <class T>
T good(Result<T, std::string> result) {
    if (!result) {
        throw std::runtime_error{result.error()};
    }
    return std::move(result).value();
}

}  // namespace

std::string run_command(const std::string& command) {
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) {
        throw std::runtime_error{"cannot run " + command};
    }
    std::string output;
    std::array<char, 4096> buffer{};
    while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        output.append(buffer.data(), size);
    }
    if (::pclose(pipe) != 0) {
        throw std::runtime_error{"failed: " + command + "\n" + output};
    }
    return output;
}

std::string redis_address(const char* variable) {
    const char* const value = std::getenv(variable);
    return value == nullptr ? "" : value;
}

RedisOptions patient(const std::string& address) {
    RedisOptions options;
    options.address = address;
    options.timeout = seconds{300};
    options.connect_timeout = seconds{60};
    return options;
}

std::unique_ptr<LimitStore> open_limits(const RedisOptions& options) {
    return good(open_redis_limit_store(options));
}

std::unique_ptr<LimitStore> open_limits(const RedisOptions& options, const MomentClock& clock) {
    return good(redis::open_limits(options, {kGivenTime, &clock}));
}

RawRedis::RawRedis(const redis::Endpoint& server)
    : connection_{good(redis::Connection::open(server, nullptr, soon()))} {}

redis::Reply RawRedis::ask(const std::vector<std::string>& words) {
    auto reply = connection_->ask(words, soon());
    if (!reply) {
        throw std::runtime_error{"Redis does not answer " + words.at(0)};
    }
    return std::move(*reply);
}

std::string RawRedis::info(const std::string& section, const std::string& field) {
    const std::string facts = text({"INFO", section});
    const std::size_t at = facts.find(field + ":") + field.size() + 1;
    return facts.substr(at, facts.find('\r', at) - at);
}

redis::Endpoint RawRedis::server_of(const std::string& address) {
    const auto parsed = good(redis::parse_redis_address(address));
    if (parsed.deployment != redis::Deployment::Sentinel) {
        return parsed.nodes[0];
    }
    RawRedis sentinel{parsed.nodes[0]};
    const auto master = sentinel.ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", parsed.master});
    return {std::string{master.at(0).text()},
            static_cast<std::uint16_t>(std::stoi(std::string{master.at(1).text()}))};
}

// slave0:ip=127.0.0.1,port=10001,state=online,...
redis::Endpoint replica_of(RawRedis& master) {
    const std::string facts = master.info("replication", "slave0");
    return {"127.0.0.1", static_cast<std::uint16_t>(std::stoi(facts.substr(facts.find("port=") + 5)))};
}

CheckOutcome take(LimitStore& store, std::string_view key, std::span<const Plan* const> plans, Tokens cost) {
    const Check check{key, plans, cost};
    CheckOutcome outcome = Verdict{};
    store.take({&check, 1}, {&outcome, 1});
    return outcome;
}

CheckOutcome take_at_last(LimitStore& store, std::string_view key, std::span<const Plan* const> plans,
                          Tokens cost) {
    CheckOutcome outcome = Unexpected{LimitFault::Unavailable};
    await([&] {
        outcome = take(store, key, plans, cost);
        return outcome.has_value();
    });
    return outcome;
}

void await(const std::function<bool()>& reached) {
    // Sentinels that get no processor for two seconds distrust their clocks, and do nothing for thirty.
    const auto deadline = std::chrono::steady_clock::now() + seconds{120};
    while (!reached()) {
        if (std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error{"what the test waits for does not come"};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});  // Between two looks.
    }
}

void flush(const std::string& address) {
    const auto parsed = good(redis::parse_redis_address(address));
    if (parsed.deployment == redis::Deployment::Cluster) {
        for (const auto& node : parsed.nodes) {
            RawRedis{node}.ask({"FLUSHALL"});
        }
    } else {
        RawRedis{address}.ask({"FLUSHALL"});
    }
}

OwnRedis::OwnRedis(std::string service, const std::string& certificate_folder)
    : service_{std::move(service)} {
    std::string state = (std::filesystem::temp_directory_path() / "sluice-own-redis-XXXXXX").string();
    if (::mkdtemp(state.data()) == nullptr) {
        throw std::runtime_error{"cannot make a folder for Redis"};
    }
    state_ = state;
    environment_ = "SLUICE_SERVICES=" + state + " SLUICE_SERVICES_TLS=" + certificate_folder + " ";
    services("up");
    const auto line = services("env");
    address_ = line.substr(line.find('=') + 1);
    address_.erase(address_.find_last_not_of('\n') + 1);
}

OwnRedis::~OwnRedis() {
    try {
        services("down");
    } catch (const std::exception& problem) {
        ADD_FAILURE() << problem.what();
    }
    std::error_code ignored;
    std::filesystem::remove_all(state_, ignored);
}

std::string OwnRedis::services(const std::string& command) const {
    return run_command(environment_ + SLUICE_SERVICES_TOOL + " " + command + " " + service_ + " 2>/dev/null");
}

void OwnRedis::kill() { services("kill"); }

void OwnRedis::revive() { services("revive"); }

void make_certificate(const std::string& folder, const std::string& name) {
    run_command("cd " + folder + " && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=sluice" +
                " -addext subjectAltName=" + name + " -keyout key.pem -out cert.pem 2>&1");
}

void make_expired_certificate(const std::string& folder, const std::string& name) {
    run_command(
        "cd " + folder + " && touch index && echo 01 >serial && printf '" +
        "[ca]\\ndefault_ca=a\\n[a]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\n" +
        "default_md=sha256\\npolicy=p\\ncopy_extensions=copy\\n[p]\\ncommonName=supplied\\n' >ca.cnf" +
        " && openssl req -new -newkey rsa:2048 -nodes -subj /CN=sluice -addext subjectAltName=" + name +
        " -keyout key.pem -out request.pem 2>&1 && openssl ca -batch -notext -config ca.cnf -selfsign" +
        " -keyfile key.pem -in request.pem -startdate 200101000000Z -enddate 210101000000Z" +
        " -out cert.pem 2>&1");
}

}  // namespace sluice::test
