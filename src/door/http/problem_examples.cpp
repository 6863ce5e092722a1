#include "door/http/problem_examples.hpp"

#include "door/http/declared_replies.hpp"
#include "door/http/fragment_text.hpp"

namespace sluice::http {

namespace json = boost::json;

std::string ProblemExamples::key_of(unsigned status, std::string_view code) const {
    for (const std::string& key : {std::to_string(status) + " " + std::string{code}, std::string{code}}) {
        if (told_.contains(key)) {
            return key;
        }
    }
    return {};
}

std::string ProblemExamples::name_of(unsigned status, std::string_view code) {
    const std::string key = key_of(status, code);
    codes_.emplace(code);
    if (key.empty()) {
        faults_ += "No fragment has the problem " + std::string{code} + ".\n";
        return std::string{code};
    }
    std::string name = key == code ? key : std::string{code} + "_" + std::to_string(status);
    if (const auto [known, is_new] = statuses_.emplace(key, status); !is_new) {
        if (known->second != status) {
            faults_ += "The problem " + key + " is given with two statuses; describe \"" +
                       std::to_string(status) + " " + std::string{code} + "\" too.\n";
        }
        return name;
    }
    const json::object& problem = told_.at(key).as_object();
    examples_[name] = {{"summary", text_of(problem.at("means"))},
                       {"value",
                        {{"type", "about:blank"},
                         {"title", in_json(reason_phrase(status))},
                         {"status", status},
                         {"code", in_json(code)},
                         {"detail", text_of(problem.at("detail"))}}}};
    return name;
}

std::string ProblemExamples::meaning_of(std::span<const Reply> replies) const {
    std::string words;
    for (const Reply& reply : replies) {
        for_each_word(reply.codes, [&](std::string_view code) {
            if (const std::string key = key_of(reply.status, code); !key.empty()) {
                words += words.empty() ? "" : " Or: ";
                words += text_of(told_.at(key).at("means"));
            }
        });
    }
    return words;
}

void ProblemExamples::complain_of_unused() {
    for (const auto& [key, problem] : told_) {
        if (!statuses_.contains(std::string{key})) {
            faults_ += "No route gives the problem " + std::string{key} + ".\n";
        }
    }
}

}  // namespace sluice::http
