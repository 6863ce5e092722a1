#include "store/redis/client/routes.hpp"

namespace sluice::redis {

Result<std::unique_ptr<Connection>, std::string> tried(
    Result<std::unique_ptr<Connection>, std::string> greeted, const Trial& trial, std::uint16_t slot) {
    if (greeted) {
        if (auto trouble = trial(**greeted, slot)) {
            return Unexpected{std::move(*trouble)};
        }
    }
    return greeted;
}

}  // namespace sluice::redis
