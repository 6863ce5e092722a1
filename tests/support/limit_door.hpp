#pragma once

#include "support/door_fixture.hpp"
#include "support/plan_drafts.hpp"

namespace sluice::test {

// A door with plans of every kind; "jobs" gives two leases.
class LimitDoor : public DoorFixture {
protected:
    explicit LimitDoor(const LimitServiceOptions& options = {}) : DoorFixture{{}, {}, options} {
        EXPECT_TRUE(plans_.load(plans_of_every_kind("jobs", 2)));
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
