#include "store/redis/client/refusal.hpp"

#include <algorithm>
#include <array>

namespace sluice::redis {

bool redirects(const ReplyView& reply) {
    constexpr std::array kWords{"MOVED", "ASK", "TRYAGAIN", "NOSCRIPT"};
    return std::any_of(kWords.begin(), kWords.end(), [&](const char* word) { return reply.is_error(word); });
}

bool refuses_work(const ReplyView& reply) {
    if (!reply.is_error()) {
        return false;
    }
    // What the script cannot read, or another program keeps under the key's name.
    const bool of_a_key = reply.is_error("WRONGTYPE") || reply.text().starts_with("ERR user_script");
    return !of_a_key && !redirects(reply);
}

}  // namespace sluice::redis
