#include "core/gateway/message.hpp"

#include <algorithm>

namespace sluice {

bool is_sendable(std::string_view text) {
    constexpr auto kSpace = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
    return text.size() <= kMessageBytesMax && !std::ranges::all_of(text, kSpace);
}

std::string_view name_of(MessageState state) {
    switch (state) {
        case MessageState::Queued: return "queued";
        case MessageState::Sent: return "sent";
        case MessageState::Failed: return "failed";
        case MessageState::Deferred: return "deferred";
        case MessageState::Cancelled: return "cancelled";
        case MessageState::Expired: return "expired";
    }
    return "";
}

}  // namespace sluice
