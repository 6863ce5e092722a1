#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// What a key can be made of; implemented over the requests of whichever server is used.
class RequestSource {
public:
    virtual ~RequestSource() = default;
    // The value of a header; names in any case.
    [[nodiscard]] virtual std::optional<std::string> header(std::string_view name) const = 0;
    // Who the caller has proved to be.
    [[nodiscard]] virtual std::optional<std::string> principal() const = 0;
};

// Makes the key that a request is limited by. Nothing: the request has none. It may throw: RateLimiter::allow
// takes that for a failure of the store.
// Thread safety: any thread.
class KeyResolver {
public:
    virtual ~KeyResolver() = default;
    [[nodiscard]] virtual std::optional<std::string> resolve(const RequestSource& source) const = 0;
};

// The value of one header, for example X-API-KEY. An empty value is none.
class HeaderKeyResolver final : public KeyResolver {
public:
    explicit HeaderKeyResolver(std::string header) : header_{std::move(header)} {}
    [[nodiscard]] std::optional<std::string> resolve(const RequestSource& source) const override;

private:
    std::string header_;
};

// The name of the authenticated caller. An empty name is none.
class PrincipalKeyResolver final : public KeyResolver {
public:
    [[nodiscard]] std::optional<std::string> resolve(const RequestSource& source) const override;
};

}  // namespace sluice
