#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "stream/kafka/link_state.hpp"

namespace sluice::kafka {

// Who speaks in the log.
inline constexpr std::string_view kLogComponent = "Kafka";

// What a client reaches for.
struct LinkName {
    std::string brokers;
    std::string purpose{};  // Where several clients reach for the same, it tells them apart.
};

// Whether any broker can be reached, by what librdkafka tells; logs each change once.
// A connection that nobody uses may be closed by a broker, and librdkafka makes it again: only two looks in a
// row without any, or librdkafka's word that all are down, count.
// Thread safety: state() from anywhere; the rest by one thread at a time.
class LinkWatch {
public:
    LinkWatch(const LinkName& name, ClientWorld world);

    // Something is wrong with one of them: the reason, should all be down.
    void trouble(std::string reason) { trouble_ = std::move(reason); }
    void all_down();
    // A look at them: so many are connected.
    void counted(std::size_t connected);
    // One of them has answered.
    void answered() { set_up(); }

    [[nodiscard]] LinkState state() const;

private:
    void set_up();
    void set_down(const std::string& reason);

    const std::string name_;
    const ClientWorld world_;
    std::string trouble_;
    int empty_looks_ = 0;  // In a row.
    mutable std::mutex mutex_;
    LinkState state_;  // Guarded by mutex_.
    bool told_down_ = false;
};

}  // namespace sluice::kafka
