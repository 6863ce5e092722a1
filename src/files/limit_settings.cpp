#include "files/limit_settings.hpp"

#include <array>

#include "files/setting_values.hpp"

namespace sluice {
namespace {

using Taken = Result<void, std::string>;

constexpr NumberRange kKeysRange{1, std::size_t{1} << 31U};
constexpr NumberRange kListBytesRange{std::size_t{1} << 20U, std::size_t{1} << 40U};
constexpr NumberRange kFailOpenTokensRange{1, 1'000'000'000'000};

template <class Value>
Taken put(Value& place, const Result<Value, std::string>& read) {
    if (!read) {
        return Unexpected{read.error()};
    }
    place = *read;
    return {};
}

constexpr std::array kKeys{
    LimitSettingKey{"limits.keysMax",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.limits.keys_max, number_setting(text, kKeysRange));
                    }},
    LimitSettingKey{"limits.listBytesMax",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.limits.list_bytes_max, number_setting(text, kListBytesRange));
                    }},
    LimitSettingKey{"limits.deadline",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.limits.deadline, duration_setting(text));
                    }},
    LimitSettingKey{"limits.failOpenTime",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.limits.fail_open_time, duration_setting(text));
                    }},
    LimitSettingKey{"limits.failOpenTokens",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.limits.fail_open_tokens, number_setting(text, kFailOpenTokensRange));
                    }},
    LimitSettingKey{"limits.denyCache",
                    [](LimitSettings& into, const std::string& text) {
                        return text == "0" ? Taken{} : put(into.limits.deny_cache, duration_setting(text));
                    }},
    LimitSettingKey{"limits.leaseTime",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.limits.lease_time, duration_setting(text));
                    }},
    LimitSettingKey{"redis.timeout",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.redis.timeout, duration_setting(text));
                    }},
    LimitSettingKey{"redis.allowEviction",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.redis.allow_eviction, truth_setting(text));
                    }},
    LimitSettingKey{"redis.tlsCa",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.redis.tls_ca, path_setting(text));
                    }},
    LimitSettingKey{"postgres.migrateAtStart",
                    [](LimitSettings& into, const std::string& text) {
                        return put(into.postgres.migrate, truth_setting(text));
                    }},
};

}  // namespace

std::span<const LimitSettingKey> limit_setting_keys() { return kKeys; }

}  // namespace sluice
