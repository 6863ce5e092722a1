#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sluice::webhook {

// An address of IPv4 or IPv6.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};  // Of IPv4 the first four.
    bool v4 = false;

    // As the standards write it: four decimal numbers, or IPv6 without brackets and zone. Nothing: it is not.
    static std::optional<IpAddress> parse(std::string_view text);
    // In the one form that every address has.
    [[nodiscard]] std::string text() const;

    bool operator==(const IpAddress&) const = default;
};

// All addresses that begin with the same bits.
struct IpNet {
    IpAddress address;
    unsigned bits = 0;

    // As 10.0.0.0/8 or fd00::/8; a lone address is a net of one. Nothing: it is something else.
    static std::optional<IpNet> parse(std::string_view text);
    [[nodiscard]] bool holds(const IpAddress& candidate) const;
};

// Which addresses webhooks may be sent to. What belongs to a machine, a site or nobody is refused, so that
// nobody who may hand over work can reach with it what only this machine can. Private nets are called when
// the allow list has them, loopback also when `loopback` says so; link-local, metadata, multicast, reserved
// and documentation addresses never. An address of IPv6 that stands for one of IPv4 is judged as that.
// Thread safety: immutable.
class AddressRules {
public:
    // Fails with one sentence when an entry of the list is not a net.
    static Result<AddressRules, std::string> make(const std::vector<std::string>& allow, bool loopback);

    // Why it must not be called, as what the address is: "is link-local". Nothing: it may be.
    [[nodiscard]] std::optional<std::string> refusal(const IpAddress& address) const;

private:
    AddressRules(std::vector<IpNet> allow, bool loopback) : allow_{std::move(allow)}, loopback_{loopback} {}

    std::vector<IpNet> allow_;
    bool loopback_;
};

}  // namespace sluice::webhook
