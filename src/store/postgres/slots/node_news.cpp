#include "store/postgres/slots/node_news.hpp"

#include <algorithm>
#include <charconv>

namespace sluice::postgres {
namespace {

// Takes words from the front; what is left may be a name with spaces.
class Words {
public:
    explicit Words(std::string_view text) : rest_{text} {}

    std::string_view word() {
        const std::size_t space = std::min(rest_.find(' '), rest_.size());
        const std::string_view found = rest_.substr(0, space);
        rest_.remove_prefix(std::min(space + 1, rest_.size()));
        return found;
    }
    template <class Number>
    std::optional<Number> number() {
        const std::string_view digits = word();
        Number value{};
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        const bool whole = error == std::errc{} && end == digits.data() + digits.size() && !digits.empty();
        return whole ? std::optional{value} : std::nullopt;
    }
    [[nodiscard]] std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
};

}  // namespace

std::optional<NodeNews> parse_news(std::string_view payload) {
    Words words{payload};
    const std::string_view kind = words.word();
    if (kind == "room") {
        const auto start = words.number<Duration::rep>();
        const auto places = words.number<Places>();
        const auto pool = PoolName::make(words.rest());
        return start && places && pool
                   ? std::optional<NodeNews>{RoomAgain{*pool, Instant{Duration{*start}}, *places}}
                   : std::nullopt;
    }
    if (kind == "recut") {
        const auto pool = PoolName::make(words.rest());
        return pool ? std::optional<NodeNews>{PoolRecut{*pool}} : std::nullopt;
    }
    if (kind == "config") {
        const auto newest = words.number<std::uint32_t>();
        const auto name = ConfigName::make(words.rest());
        return newest && name ? std::optional<NodeNews>{ConfigChanged{*name, ConfigId{*newest}}}
                              : std::nullopt;
    }
    if (kind == "work") {
        const auto earliest = words.number<Duration::rep>();
        return earliest ? std::optional<NodeNews>{WorkAdded{Instant{Duration{*earliest}}}} : std::nullopt;
    }
    const auto node = kind == "flush" ? words.number<std::int64_t>() : std::nullopt;
    return node ? std::optional<NodeNews>{CacheFlushed{*node}} : std::nullopt;
}

}  // namespace sluice::postgres
