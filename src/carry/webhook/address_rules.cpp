#include "carry/webhook/address_rules.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include <arpa/inet.h>

namespace sluice::webhook {
namespace {

enum class Rule : std::uint8_t {
    Never,
    Private,   // By the allow list.
    Loopback,  // The same, or by the option.
};

struct Special {
    const char* net;
    Rule rule;
    const char* what;
};

// From the registries of special-purpose addresses (RFC 6890 and its successors), and what the large clouds
// serve metadata on. The first that holds an address counts.
constexpr auto kSpecialV4 = std::to_array<Special>({
    {"169.254.0.0/16", Rule::Never, "is link-local"},
    {"100.100.100.200/32", Rule::Never, "serves metadata of a cloud"},
    {"168.63.129.16/32", Rule::Never, "serves metadata of a cloud"},
    {"0.0.0.0/8", Rule::Never, "is unspecified"},
    {"127.0.0.0/8", Rule::Loopback, "is loopback"},
    {"10.0.0.0/8", Rule::Private, "is private"},
    {"172.16.0.0/12", Rule::Private, "is private"},
    {"192.168.0.0/16", Rule::Private, "is private"},
    {"100.64.0.0/10", Rule::Private, "is shared by customers of a carrier"},
    {"192.0.0.0/24", Rule::Never, "is reserved"},
    {"192.0.2.0/24", Rule::Never, "is for documentation"},
    {"198.51.100.0/24", Rule::Never, "is for documentation"},
    {"203.0.113.0/24", Rule::Never, "is for documentation"},
    {"192.88.99.0/24", Rule::Never, "is reserved"},
    {"198.18.0.0/15", Rule::Never, "is for benchmarks"},
    {"224.0.0.0/4", Rule::Never, "is multicast"},
    {"255.255.255.255/32", Rule::Never, "is broadcast"},
    {"240.0.0.0/4", Rule::Never, "is reserved"},
});

constexpr auto kSpecialV6 = std::to_array<Special>({
    {"::/128", Rule::Never, "is unspecified"},
    {"::1/128", Rule::Loopback, "is loopback"},
    {"fd00:ec2::254/128", Rule::Never, "serves metadata of a cloud"},
    {"fd20:ce::254/128", Rule::Never, "serves metadata of a cloud"},
    {"fc00::/7", Rule::Private, "is private"},
    {"fe80::/10", Rule::Never, "is link-local"},
    {"ff00::/8", Rule::Never, "is multicast"},
    {"2001:db8::/32", Rule::Never, "is for documentation"},
    {"3fff::/20", Rule::Never, "is for documentation"},
    {"2001:2::/48", Rule::Never, "is for benchmarks"},
    {"2001::/23", Rule::Never, "is reserved"},
});
constexpr const char* kPublicV6 = "2000::/3";  // All that is given to anybody so far.

// Where an address of IPv6 has one of IPv4 in it.
struct Embedding {
    const char* net;
    std::size_t at;
    std::uint8_t mask = 0;  // Its bytes are written with these bits turned.
};
constexpr auto kEmbeddings = std::to_array<Embedding>({
    {"::ffff:0:0/96", 12},    // Mapped.
    {"::ffff:0:0:0/96", 12},  // Translated.
    {"::/96", 12},            // Compatible.
    {"64:ff9b::/96", 12},     // NAT64.
    {"2002::/16", 2},         // 6to4.
    {"2001::/32", 4},         // Teredo: its server,
    {"2001::/32", 12, 0xFF},  // and its client.
});

IpNet net_of(const char* text) { return *IpNet::parse(text); }

struct KnownNet {
    IpNet net;
    Special special;
};
struct KnownEmbedding {
    IpNet net;
    Embedding embedding;
};

std::vector<KnownNet> known(std::span<const Special> specials) {
    std::vector<KnownNet> nets;
    nets.reserve(specials.size());
    for (const Special& special : specials) {
        nets.push_back({net_of(special.net), special});
    }
    return nets;
}

const std::vector<KnownNet>& special_nets(bool v4) {
    static const std::vector<KnownNet> kV4 = known(kSpecialV4);
    static const std::vector<KnownNet> kV6 = known(kSpecialV6);
    return v4 ? kV4 : kV6;
}

// All addresses of IPv4 that this one stands for. Empty: it is an address of its own.
std::vector<IpAddress> embedded(const IpAddress& address) {
    static const std::vector<KnownEmbedding> kKnown = [] {
        std::vector<KnownEmbedding> nets;
        nets.reserve(kEmbeddings.size());
        for (const Embedding& embedding : kEmbeddings) {
            nets.push_back({net_of(embedding.net), embedding});
        }
        return nets;
    }();
    std::vector<IpAddress> found;
    static const IpNet kOwn = net_of("::/127");  // Unspecified and loopback look like compatible ones.
    if (address.v4 || kOwn.holds(address)) {
        return found;
    }
    for (const KnownEmbedding& each : kKnown) {
        if (each.net.holds(address)) {
            IpAddress inner{{}, true};
            std::transform(address.bytes.begin() + each.embedding.at,
                           address.bytes.begin() + each.embedding.at + 4, inner.bytes.begin(),
                           [&each](std::uint8_t byte) -> std::uint8_t { return byte ^ each.embedding.mask; });
            found.push_back(inner);
        }
    }
    return found;
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
    const std::string terminated{
        text};  // A NUL inside ends it earlier, for which nobody is let through below.
    IpAddress address;
    if (text.find('\0') != std::string_view::npos) {
        return std::nullopt;
    }
    if (::inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) == 1) {
        address.v4 = true;
        return address;
    }
    address.bytes = {};
    return ::inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1 ? std::optional{address}
                                                                                : std::nullopt;
}

std::string IpAddress::text() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(v4 ? AF_INET : AF_INET6, bytes.data(), text.data(), text.size());
    return text.data();
}

std::optional<IpNet> IpNet::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = IpAddress::parse(text.substr(0, slash));
    if (!address) {
        return std::nullopt;
    }
    const unsigned most = address->v4 ? 32 : 128;
    if (slash == std::string_view::npos) {
        return IpNet{*address, most};
    }
    const std::string_view digits = text.substr(slash + 1);
    unsigned bits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() || bits > most) {
        return std::nullopt;
    }
    return IpNet{*address, bits};
}

bool IpNet::holds(const IpAddress& candidate) const {
    if (candidate.v4 != address.v4) {
        return false;
    }
    const std::size_t whole = bits / 8;
    const unsigned rest = bits % 8;
    if (std::memcmp(candidate.bytes.data(), address.bytes.data(), whole) != 0) {
        return false;
    }
    return rest == 0 || ((candidate.bytes[whole] ^ address.bytes[whole]) >> (8 - rest)) == 0;
}

Result<AddressRules, std::string> AddressRules::make(const std::vector<std::string>& allow, bool loopback) {
    std::vector<IpNet> nets;
    for (const std::string& text : allow) {
        const auto net = IpNet::parse(text);
        if (!net) {
            return Unexpected{"'" + text + "' is not a net of the form 10.0.0.0/8 or fd00::/8."};
        }
        nets.push_back(*net);
    }
    return AddressRules{std::move(nets), loopback};
}

std::optional<std::string> AddressRules::refusal(const IpAddress& address) const {
    const auto inner = embedded(address);
    for (const IpAddress& each : inner) {
        if (auto reason = refusal(each)) {
            return "stands for " + each.text() + ", which " + *reason;
        }
    }
    if (!inner.empty()) {
        return std::nullopt;
    }
    const auto& nets = special_nets(address.v4);
    const auto found = std::find_if(nets.begin(), nets.end(),
                                    [&](const KnownNet& known) { return known.net.holds(address); });
    if (found == nets.end()) {
        static const IpNet kPublic = net_of(kPublicV6);
        return address.v4 || kPublic.holds(address) ? std::nullopt
                                                    : std::optional<std::string>{"is reserved"};
    }
    const bool listed =
        found->special.rule != Rule::Never &&
        std::any_of(allow_.begin(), allow_.end(), [&](const IpNet& net) { return net.holds(address); });
    const bool allowed = listed || (found->special.rule == Rule::Loopback && loopback_);
    return allowed ? std::nullopt : std::optional<std::string>{found->special.what};
}

}  // namespace sluice::webhook
