#include "store/redis/limits/trial.hpp"

#include <vector>

#include "store/redis/client/cluster_slot.hpp"
#include "store/redis/client/refusal.hpp"
#include "store/redis/limits/state_keys.hpp"

namespace sluice::redis {
namespace {

using Words = std::vector<std::string>;

// A key of the empty plan in this slot. Found by trying: one in 16,384 fits.
std::string key_in(std::uint16_t slot) {
    for (int i = 0;; ++i) {
        std::string key = state_key("", "trial-" + std::to_string(i));
        if (slot_of(key) == slot) {
            return key;
        }
    }
}

// A bucket of one token an hour.
std::string trial_commands(const Script& script, const MomentClock* clock, const std::string& key) {
    std::string bytes;
    append_command(bytes, Words{"SCRIPT", "LOAD", script.text()});
    for (const char* const operation : {"take", "reset"}) {
        Words words{"EVALSHA", script.sha(), "1", key, operation, "b", "1", "1", "3600000000", "1"};
        if (clock != nullptr) {
            words.emplace_back("0");  // Any time will do; the clock is for checks, one look each.
        }
        append_command(bytes, words);
    }
    return bytes;
}

std::optional<std::string> try_script(Connection& connection, const std::string& bytes, Deadline deadline) {
    bool there = connection.send(bytes, deadline);
    std::optional<std::string> refusal;
    for (int i = 0; there && i < 3; ++i) {
        const auto reply = connection.receive(deadline);
        there = reply.has_value();
        if (there && !refusal && reply->is_error() && !redirects(*reply)) {
            refusal = "refuses the script of limits: " + std::string{reply->text()};
        }
    }
    return there ? refusal : connection.trouble();
}

}  // namespace

Trial make_trial(const Script& script, const MomentClock* clock, std::chrono::milliseconds timeout) {
    return [&script, clock, timeout](Connection& connection,
                                     std::uint16_t slot) -> std::optional<std::string> {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        const auto trouble = try_script(connection, trial_commands(script, clock, key_in(slot)), deadline);
        return trouble ? std::optional{"Redis at " + connection.endpoint().text() + " " + *trouble}
                       : std::nullopt;
    };
}

}  // namespace sluice::redis
