#include "app/limits/plan_shelf.hpp"

#include <array>
#include <charconv>

namespace sluice {
namespace {

struct TextField {
    std::string_view name;
    std::string PlanDraft::*member;
};
constexpr std::array kTexts{TextField{"algorithm", &PlanDraft::algorithm},
                            TextField{"refill", &PlanDraft::refill},
                            TextField{"window", &PlanDraft::window},
                            TextField{"start", &PlanDraft::start},
                            TextField{"cooldown", &PlanDraft::cooldown},
                            TextField{"on_store_failure", &PlanDraft::on_store_failure}};

struct NumberField {
    std::string_view name;
    std::optional<Tokens> PlanDraft::*member;
};
constexpr std::array kNumbers{NumberField{"capacity", &PlanDraft::capacity},
                              NumberField{"max_per_hour", &PlanDraft::max_per_hour},
                              NumberField{"lease", &PlanDraft::lease}};

void append_word(std::string& words, std::string_view name, std::string_view value) {
    words.append(words.empty() ? "" : " ").append(name).append("=").append(value);
}

bool take_word(PlanDraft& draft, std::string_view name, std::string_view value) {
    for (const TextField& field : kTexts) {
        if (field.name == name) {
            draft.*field.member = value;
            return true;
        }
    }
    for (const NumberField& field : kNumbers) {
        if (field.name == name) {
            Tokens number = 0;
            const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
            draft.*field.member = number;
            return read.ec == std::errc{} && read.ptr == value.data() + value.size();
        }
    }
    draft.shadow = name == "shadow";
    return name == "shadow" && value == "true";
}

}  // namespace

std::string words_of(const PlanDraft& draft) {
    std::string words;
    for (const TextField& field : kTexts) {
        if (!(draft.*field.member).empty()) {
            append_word(words, field.name, draft.*field.member);
        }
    }
    for (const NumberField& field : kNumbers) {
        if (draft.*field.member) {
            append_word(words, field.name, std::to_string(*(draft.*field.member)));
        }
    }
    if (draft.shadow) {
        append_word(words, "shadow", "true");
    }
    return words;
}

std::optional<PlanDraft> draft_of_words(std::string_view name, std::string_view words) {
    PlanDraft draft{.name = std::string{name}, .algorithm = ""};
    while (!words.empty()) {
        const std::string_view word = words.substr(0, words.find(' '));
        words.remove_prefix(std::min(words.size(), word.size() + 1));
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos ||
            !take_word(draft, word.substr(0, equals), word.substr(equals + 1))) {
            return std::nullopt;
        }
    }
    return draft;
}

}  // namespace sluice
