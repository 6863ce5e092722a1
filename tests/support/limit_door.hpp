#pragma once

#include "support/door_fixture.hpp"

namespace sluice::test {

// A door with plans: "gold" (3, one a second), "daily" (10), "strict" (fails closed), "near" (fails locally),
// "tried" (shadow mode) and "jobs" (two leases).
class LimitDoor : public DoorFixture {
protected:
    explicit LimitDoor(const LimitServiceOptions& options = {}) : DoorFixture{{}, {}, options} {
        EXPECT_TRUE(plans_.load({
            {.name = "gold", .algorithm = "token_bucket", .capacity = 3, .refill = "1/s"},
            {.name = "daily", .algorithm = "fixed_window", .capacity = 10, .window = "day"},
            {.name = "strict",
             .algorithm = "token_bucket",
             .capacity = 3,
             .refill = "1/s",
             .on_store_failure = "closed"},
            {.name = "near",
             .algorithm = "token_bucket",
             .capacity = 2,
             .refill = "1/s",
             .on_store_failure = "local"},
            {.name = "tried", .algorithm = "token_bucket", .capacity = 1, .refill = "1/s", .shadow = true},
            {.name = "jobs", .algorithm = "concurrency", .capacity = 2, .window = "PT1M"},
        }));
    }

    HttpAnswer check(const std::string& key, const std::string& plans, const std::string& more = "") const {
        return post("/api/v1/check", R"({"key":")" + key + R"(","plans":)" + plans + more + "}");
    }
    HttpAnswer put(std::string_view target, std::string_view body) const {
        return call(port(), "PUT", target, body);
    }
    HttpAnswer remove(std::string_view target) const { return call(port(), "DELETE", target); }
    // How the key stands, without a charge.
    std::string standing(const std::string& key, const std::string& plan) const {
        return get("/admin/keys/" + key + "?plan=" + plan).body;
    }
    void break_store() {
        limit_store_.before = [](std::uint64_t) { return std::optional{LimitFault::Unavailable}; };
    }
};

}  // namespace sluice::test
