#include "store/redis/limits/state_keys.hpp"

namespace sluice::redis {

std::string state_key(std::string_view plan, std::string_view key) {
    std::string name;
    name.reserve(plan.size() + key.size() + 16);
    name.append("rate_limiter:").append(plan).append(":{");
    for (const char c : key) {
        switch (c) {
            case '{': name.append("%7B"); break;
            case '}': name.append("%7D"); break;
            case '%': name.append("%25"); break;
            default: name.push_back(c);
        }
    }
    name.push_back('}');
    return name;
}

}  // namespace sluice::redis
