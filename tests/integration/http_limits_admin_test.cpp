// Plans and keys, as administrators see and change them.
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/limit_door.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpLimitsAdmin : public LimitDoor {};

TEST_F(HttpLimitsAdmin, ShowsPlans) {
    const auto all = get("/admin/plans");
    EXPECT_EQ(all.status, 200);
    EXPECT_THAT(all.body,
                StartsWith(R"({"version":1,"fileError":null,"plans":[{"name":"daily","algorithm":)"
                           R"("fixed_window","capacity":10,"window":"day","on_store_failure":"open",)"
                           R"("shadow":false,"origin":"file"},{"name":"gold",)"));

    EXPECT_EQ(get("/admin/plans/gold").body,
              R"({"name":"gold","algorithm":"token_bucket","capacity":3,"refill":"1/s",)"
              R"("on_store_failure":"open","shadow":false,"origin":"file"})");
    EXPECT_EQ(get("/admin/plans/nope").code(), "plan_not_found");
}

TEST_F(HttpLimitsAdmin, ShowsWhyTheFileWasRefused) {
    plans_.refuse_file("plans.yaml: plan 'x' has no name.");

    EXPECT_THAT(get("/admin/plans").body, HasSubstr(R"("fileError":"plans.yaml: plan 'x' has no name.")"));
    EXPECT_EQ(get("/readyz").body, R"({"status":"degraded","slots":"ok","limits":"plans_refused"})");
}

TEST_F(HttpLimitsAdmin, AddsReplacesAndRemovesPlans) {
    const auto added = put("/admin/plans/new",
                           R"({"algorithm":"cooldown","cooldown":"PT1S","max_per_hour":4,"shadow":true})");
    EXPECT_EQ(added.status, 200);
    EXPECT_EQ(added.body, R"({"name":"new","algorithm":"cooldown","capacity":4,"cooldown":"PT1S",)"
                          R"("max_per_hour":4,"on_store_failure":"open","shadow":true,"origin":"admin"})");
    EXPECT_EQ(check("k", R"(["new"])").status, 200);

    EXPECT_EQ(
        put("/admin/plans/gold", R"({"name":"gold","algorithm":"token_bucket","capacity":7,"refill":"1/s"})")
            .status,
        200);
    EXPECT_THAT(check("k", R"(["gold"])").body, HasSubstr(R"("limit":7)"));

    EXPECT_EQ(remove("/admin/plans/gold").status, 204);
    EXPECT_EQ(remove("/admin/plans/gold").status, 404);
    EXPECT_EQ(check("k", R"(["gold"])").status, 404);
    EXPECT_TRUE(log_.has("INFO Audit - 127.0.0.1 set plan gold"));
    EXPECT_TRUE(log_.has("INFO Audit - 127.0.0.1 removed plan gold"));
}

TEST_F(HttpLimitsAdmin, ShowsTheLeaseOfAPlan) {
    const auto added =
        put("/admin/plans/new", R"({"algorithm":"token_bucket","capacity":9,"refill":"1/s","lease":3})");

    EXPECT_EQ(added.status, 200);
    EXPECT_THAT(
        get("/admin/plans").body,
        HasSubstr(R"("name":"new","algorithm":"token_bucket","capacity":9,"refill":"1/s","lease":3)"));
    EXPECT_EQ(put("/admin/keys/k", R"({"plan":"new","lease":2,"ttl":"PT1H"})").code(), "unknown_field");
}

TEST_F(HttpLimitsAdmin, RefusesBadPlansAndKeepsTheOld) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"({"algorithm":"token_bucket","refill":"1/s"})", "invalid_plan"},
        {R"({"algorithm":"magic","capacity":1})", "invalid_plan"},
        {R"({"algorithm":"token_bucket","capacity":0,"refill":"1/s"})", "invalid_number"},
        {R"({"algorithm":"token_bucket","capacity":1.5,"refill":"1/s"})", "invalid_number"},
        {R"({"algorithm":"token_bucket","capacity":1,"refill":"1/x"})", "invalid_plan"},
        {R"({"algorithm":"token_bucket","capacity":1,"refill":"1/s","window":"PT1S"})", "invalid_plan"},
        {R"({"algorithm":"token_bucket","capacity":1,"refill":"1/s","lease":2})", "invalid_plan"},
        {R"({"algorithm":"token_bucket","capacity":1,"refill":"1/s","lease":0})", "invalid_number"},
        {R"({"algorithm":"fixed_window","capacity":1,"window":"day","lease":1})", "invalid_plan"},
        {R"({"algorithm":"token_bucket","capacity":1,"refil":"1/s"})", "unknown_field"},
        {R"({"algorithm":"token_bucket","capacity":1,"refill":"1/s","shadow":"yes"})", "invalid_flag"},
        {R"({"algorithm":"token_bucket","capacity":1,"refill":7})", "invalid_plan"},
        {R"({"algorithm":"token_bucket","capacity":1,"refill":"1/s","on_store_failure":"maybe"})",
         "invalid_plan"},
        {R"({"name":"other","algorithm":"token_bucket","capacity":1,"refill":"1/s"})", "invalid_plan"},
        {"[]", "malformed_json"},
    };
    const std::string before = get("/admin/plans").body;

    for (const auto& [body, code] : cases) {
        SCOPED_TRACE(body);
        const auto answer = put("/admin/plans/gold", body);
        EXPECT_EQ(answer.status, 400);
        EXPECT_EQ(answer.code(), code);
    }
    EXPECT_EQ(put("/admin/plans/a%20b", R"({"algorithm":"token_bucket","capacity":1,"refill":"1/s"})").code(),
              "invalid_plan");

    EXPECT_EQ(get("/admin/plans").body, before);
}

TEST_F(HttpLimitsAdmin, ShowsAndResetsKeys) {
    ASSERT_EQ(check("k", R"(["gold","daily"])", R"(,"tokens":3)").status, 200);

    EXPECT_EQ(get("/admin/keys/k?plan=gold").body,
              R"({"key":"k","plans":[{"plan":"gold","allowed":false,"limit":3,"remaining":0,)"
              R"("retryAfterMs":1000,"resetAfterMs":3000,"planLimit":3}]})");
    EXPECT_THAT(get("/admin/keys/k").body, HasSubstr(R"("plan":"tried")"));
    EXPECT_EQ(remove("/admin/keys/k?plan=gold").status, 204);
    EXPECT_THAT(standing("k", "gold"), HasSubstr(R"("remaining":3)"));
    EXPECT_THAT(standing("k", "daily"), HasSubstr(R"("remaining":7)"));
    EXPECT_EQ(remove("/admin/keys/k").status, 204);
    EXPECT_THAT(standing("k", "daily"), HasSubstr(R"("remaining":10)"));
    EXPECT_TRUE(log_.has("INFO Audit - 127.0.0.1 reset key k"));
    EXPECT_EQ(get("/admin/keys/k?plan=nope").code(), "plan_not_found");
    EXPECT_EQ(get("/admin/keys/a%01b").code(), "invalid_key");
}

TEST_F(HttpLimitsAdmin, OverridesAPlanForOneKeyUntilATime) {
    const auto answer = put("/admin/keys/k", R"({"plan":"gold","capacity":50,"ttl":"PT1H"})");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, R"({"key":"k","plan":"gold","until":"2025-06-01T13:00:00.000Z"})");
    EXPECT_THAT(check("k", R"(["gold"])", R"(,"tokens":20)").body, HasSubstr(R"("limit":50,"remaining":30)"));
    EXPECT_THAT(standing("other", "gold"), HasSubstr(R"("limit":3)"));
    EXPECT_TRUE(
        log_.has("INFO Audit - 127.0.0.1 overrode plan gold for key k until 2025-06-01T13:00:00.000Z"));

    limit_clock_.advance(std::chrono::hours{1});
    EXPECT_THAT(standing("k", "gold"), HasSubstr(R"("limit":3)"));
}

TEST_F(HttpLimitsAdmin, EndsAnOverrideByATimeThatHasPassed) {
    ASSERT_EQ(put("/admin/keys/k", R"({"plan":"gold","capacity":50,"until":"2025-06-01T15:00:00Z"})").status,
              200);

    ASSERT_EQ(put("/admin/keys/k", R"({"plan":"gold","until":"2025-06-01T11:00:00Z"})").status, 200);

    EXPECT_THAT(standing("k", "gold"), HasSubstr(R"("limit":3)"));
}

TEST_F(HttpLimitsAdmin, RefusesBadOverrides) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"({"plan":"gold","capacity":50})", "invalid_time"},
        {R"({"plan":"gold","capacity":50,"ttl":"PT1H","until":"2025-06-01T15:00:00Z"})", "invalid_time"},
        {R"({"plan":"gold","capacity":50,"until":"2045-06-01T15:00:00Z"})", "time_out_of_range"},
        {R"({"plan":"gold","capacity":50,"ttl":"1h"})", "invalid_duration"},
        {R"({"plan":"gold","capacity":-1,"ttl":"PT1H"})", "invalid_number"},
        {R"({"plan":"gold","refill":"0/s","ttl":"PT1H"})", "invalid_plan"},
        {R"({"plan":"gold","shadow":true,"ttl":"PT1H"})", "unknown_field"},
        {R"({"capacity":50,"ttl":"PT1H"})", "invalid_plans"},
    };
    for (const auto& [body, code] : cases) {
        SCOPED_TRACE(body);
        const auto answer = put("/admin/keys/k", body);
        EXPECT_EQ(answer.status, 400);
        EXPECT_EQ(answer.code(), code);
    }
    EXPECT_EQ(put("/admin/keys/k", R"({"plan":"nope","ttl":"PT1H"})").code(), "plan_not_found");
    EXPECT_THAT(standing("k", "gold"), HasSubstr(R"("limit":3,"remaining":3)"));
}

TEST_F(HttpLimitsAdmin, NeedsTheTokenWhereThereIsOne) {
    const TempFolder folder;
    std::ofstream{folder / "token"} << std::string(32, 't') << "\n";
    ASSERT_TRUE(gate_.load(folder / "token"));

    for (const char* path : {"/admin/plans", "/admin/plans/gold", "/admin/keys/k"}) {
        EXPECT_EQ(get(path).status, 401) << path;
    }
    EXPECT_EQ(remove("/admin/plans/gold").status, 401);
    EXPECT_EQ(put("/admin/plans/gold", "{}").status, 401);
    EXPECT_EQ(remove("/admin/keys/k").status, 401);
    EXPECT_EQ(put("/admin/keys/k", "{}").status, 401);
    EXPECT_EQ(check("k", R"(["gold"])").status, 200);
}

}  // namespace
}  // namespace sluice::test
