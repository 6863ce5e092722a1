#include "store/postgres/work/work_words.hpp"

#include <algorithm>
#include <charconv>

namespace sluice::postgres {
namespace {

// The server takes no more than 8000 bytes.
constexpr std::size_t kNameSaidMax = 4096;

std::string_view next_word(std::string_view& text) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    return word;
}

std::optional<std::int64_t> number_in(std::string_view digits) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc{} && end == digits.data() + digits.size() && !digits.empty();
    return whole ? std::optional{value} : std::nullopt;
}

std::optional<Lane> lane_in(std::string_view text) {
    const auto kind = number_in(next_word(text));
    if (!kind || *kind < 1 || *kind > static_cast<std::int64_t>(LaneKind::Dead)) {
        return std::nullopt;
    }
    return Lane{static_cast<LaneKind>(*kind), std::string{text}};
}

}  // namespace

std::optional<WorkWords> parse_work_words(std::string_view said) {
    if (next_word(said) != "work") {
        return std::nullopt;
    }
    const std::string_view kind = next_word(said);
    const auto node = number_in(next_word(said));
    if (const auto due = number_in(kind)) {
        return WorkWords{WorkWaits{Instant{Duration{*due}}}, node};
    }
    if (kind == "terms") {
        return WorkWords{TermsChanged{}, node};
    }
    if (kind == "lanes") {
        return WorkWords{LanesFilled{}, node};
    }
    auto lane = kind == "lane" ? lane_in(said) : std::nullopt;
    return lane ? std::optional{WorkWords{LaneFilled{std::move(*lane)}, node}} : std::nullopt;
}

std::string say_work_waits(Instant due, NodeNumber node) {
    return "work " + std::to_string(due.time_since_epoch().count()) + " " + std::to_string(node);
}

std::vector<std::string> say_lanes_filled(const std::set<Lane>& lanes, NodeNumber node) {
    const std::string by = std::to_string(node);
    const bool fits =
        std::ranges::all_of(lanes, [](const Lane& lane) { return lane.name.size() <= kNameSaidMax; });
    if (lanes.size() > kLanesNamed || !fits) {
        return {"work lanes " + by};
    }
    std::vector<std::string> words;
    for (const Lane& lane : lanes) {
        std::string one = "work lane " + by;
        one.append(" ").append(std::to_string(static_cast<int>(lane.kind))).append(" ").append(lane.name);
        words.push_back(std::move(one));
    }
    return words;
}

}  // namespace sluice::postgres
