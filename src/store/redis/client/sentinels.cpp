#include "store/redis/client/sentinels.hpp"

#include <charconv>
#include <map>
#include <optional>

namespace sluice::redis {
namespace {

using Clock = std::chrono::steady_clock;
using Failed = Unexpected<std::string>;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kRest{1};

template <class Number>
Number number_in(std::string_view text) {
    Number number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// Names and values by turns.
std::map<std::string_view, std::string_view> pairs_in(const ReplyView& reply) {
    std::map<std::string_view, std::string_view> pairs;
    for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
        pairs.emplace(reply.at(i).text(), reply.at(i + 1).text());
    }
    return pairs;
}

// Where an instance is that a sentinel describes. Nothing: it does not say.
std::optional<Endpoint> endpoint_in(const std::map<std::string_view, std::string_view>& facts) {
    const auto host = facts.find("ip");
    const auto port = facts.find("port");
    if (host == facts.end() || port == facts.end()) {
        return std::nullopt;
    }
    return Endpoint{std::string{host->second}, number_in<std::uint16_t>(port->second)};
}

bool has_flag(const std::map<std::string_view, std::string_view>& facts, std::string_view flag) {
    const auto flags = facts.find("flags");
    return flags != facts.end() && flags->second.find(flag) != std::string_view::npos;
}

}  // namespace

Sentinels::Sentinels(const RedisAddress& address, const Greeting& greeting)
    : name_{address.master}, greeting_{greeting} {
    for (const Endpoint& sentinel : address.nodes) {
        lines_.push_back({sentinel});
    }
}

Result<Endpoint, std::string> Sentinels::master() {
    const std::lock_guard lock{mutex_};
    in_failover_.store(false, std::memory_order_relaxed);
    std::optional<Word> newest;
    std::string problem = "no sentinel answers";
    for (Line& line : lines_) {
        if (Clock::now() < line.retry_at) {
            continue;
        }
        auto word = ask(line);
        if (!word) {
            problem = word.error();
            line.connection.reset();
            line.retry_at = Clock::now() + kRest;
        } else if (!newest || word->newer_than(*newest)) {
            newest = std::move(*word);
        }
    }
    return newest ? Result<Endpoint, std::string>{std::move(newest->master)} : Failed{problem};
}

Result<Sentinels::Word, std::string> Sentinels::ask(Line& line) {
    if (!line.connection || !line.connection->alive()) {
        auto connection = connect(line.sentinel);
        if (!connection) {
            return Failed{connection.error()};
        }
        line.connection = std::move(*connection);
    }
    const auto reply = ask(line, "MASTER");
    if (!reply) {
        return Failed{"the sentinel at " + line.sentinel.text() + " does not answer"};
    }
    const auto facts = pairs_in(*reply);
    auto master = endpoint_in(facts);
    const auto epoch = facts.find("config-epoch");
    if (!master || epoch == facts.end()) {
        return Failed{"the sentinel at " + line.sentinel.text() + " knows no master '" + name_ + "'"};
    }
    Word word{std::move(*master), number_in<std::int64_t>(epoch->second), false};
    if (!has_flag(facts, "failover_in_progress")) {
        return word;
    }
    in_failover_.store(true, std::memory_order_relaxed);
    auto next = promoted_by(line);
    next = next ? next : named_by(line);
    if (next && *next != word.master) {
        word.master = std::move(*next);
        word.ahead = true;
    }
    return word;
}

// Who may not ask this, or the next, hears of a failover a second later.
std::optional<Endpoint> Sentinels::promoted_by(Line& line) {
    const auto replicas = ask(line, "REPLICAS");
    for (std::size_t i = 0; replicas && i < replicas->size(); ++i) {
        const auto facts = pairs_in(replicas->at(i));
        if (auto replica = endpoint_in(facts); replica && has_flag(facts, "promoted")) {
            return greet(*replica, greeting_, Wanted::Master) ? replica : std::nullopt;
        }
    }
    return std::nullopt;
}

std::optional<Endpoint> Sentinels::named_by(Line& line) {
    const auto named = ask(line, "GET-MASTER-ADDR-BY-NAME");
    if (!named || named->size() != 2) {
        return std::nullopt;
    }
    return Endpoint{std::string{named->at(0).text()}, number_in<std::uint16_t>(named->at(1).text())};
}

std::optional<Reply> Sentinels::ask(Line& line, const char* what) {
    return line.connection->ask(Words{"SENTINEL", what, name_}, Clock::now() + greeting_.timeout);
}

// Sentinels often have no password where the servers have one, and refuse one that they do not want.
Result<std::unique_ptr<Connection>, std::string> Sentinels::connect(const Endpoint& sentinel) const {
    Greeting stranger = greeting_;
    stranger.password.clear();
    auto connection = greet(sentinel, stranger, Wanted::Anything);
    return connection || greeting_.password.empty() ? std::move(connection)
                                                    : greet(sentinel, greeting_, Wanted::Anything);
}

}  // namespace sluice::redis
