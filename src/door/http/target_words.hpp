#pragma once

#include <array>
#include <string_view>

#include "core/dispatch/work.hpp"

namespace sluice::http {

// One kind of target, as users name it.
struct TargetWords {
    TargetKind kind;
    std::string_view type;
    std::string_view address;  // The field of its address. Empty: it has none.
};
inline constexpr std::array kTargetWords{
    TargetWords{TargetKind::Webhook, "webhook", "url"},
    TargetWords{TargetKind::Kafka, "kafka", "topic"},
    TargetWords{TargetKind::Log, "log", ""},
};

constexpr const TargetWords& words_of(TargetKind kind) {
    for (const TargetWords& words : kTargetWords) {
        if (words.kind == kind) {
            return words;
        }
    }
    return kTargetWords.back();
}

}  // namespace sluice::http
