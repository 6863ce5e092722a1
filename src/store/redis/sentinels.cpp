#include "store/redis/sentinels.hpp"

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
std::map<std::string_view, std::string_view> pairs_in(const Reply& reply) {
    std::map<std::string_view, std::string_view> pairs;
    for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
        pairs.emplace(reply.at(i).text(), reply.at(i + 1).text());
    }
    return pairs;
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
        } else if (!newest || word->epoch > newest->epoch) {
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
    const auto reply =
        line.connection->ask(Words{"SENTINEL", "MASTER", name_}, Clock::now() + greeting_.timeout);
    if (!reply) {
        return Failed{"the sentinel at " + text_of(line.sentinel) + " does not answer"};
    }
    const auto facts = pairs_in(*reply);
    const auto host = facts.find("ip");
    const auto port = facts.find("port");
    const auto epoch = facts.find("config-epoch");
    if (host == facts.end() || port == facts.end() || epoch == facts.end()) {
        return Failed{"the sentinel at " + text_of(line.sentinel) + " knows no master '" + name_ + "'"};
    }
    return Word{{std::string{host->second}, number_in<std::uint16_t>(port->second)},
                number_in<std::int64_t>(epoch->second)};
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
