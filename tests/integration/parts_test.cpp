// The daemon is a list of parts: one more line, and a capability is there.
#include "main/parts.hpp"

#include <fstream>
#include <iterator>

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "door/http/openapi_assembly.hpp"
#include "main/daemon.hpp"
#include "support/raw_http.hpp"
#include "trial_part/trial_part.hpp"

namespace sluice::test {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

std::vector<PartPlan> parts_with_trial() {
    std::vector<PartPlan> parts{all_parts().begin(), all_parts().end()};
    parts.push_back(trial_part());  // The one line.
    return parts;
}

class DaemonWithATrialPart : public ::testing::Test {
protected:
    DaemonWithATrialPart() {
        const auto started = daemon_.start(net::resolve_listener(in_force_.settings.listen).value());
        EXPECT_TRUE(started.has_value());
    }
    ~DaemonWithATrialPart() override {
        daemon_.stop(std::chrono::seconds{5});
        EXPECT_GT(rounds_, 0U);
    }

    std::string get(std::string_view target) { return call(daemon_.port(), "GET", target).body; }
    std::uint64_t rounds_now() {
        rounds_ = json::parse(get("/api/v1/trial")).at("rounds").to_number<std::uint64_t>();
        return rounds_;
    }

    const SettingsInForce in_force_ =
        load_settings({{"store", "memory"}, {"listen", "127.0.0.1:0"}, {"log-level", "warn"}}, {}).value();
    const std::vector<PartPlan> parts_ = parts_with_trial();
    Daemon daemon_{in_force_, {parts_, "{}"}};
    std::uint64_t rounds_ = 0;
};

TEST_F(DaemonWithATrialPart, HasItsRouteItsJobItsFigureAndItsState) {
    const std::uint64_t before = rounds_now();
    while (rounds_now() <= before) {  // The test's own time-out ends it if the job never runs.
    }

    EXPECT_THAT(get("/metrics"), HasSubstr("\nsluice_trial_rounds_total "));
    EXPECT_EQ(get("/readyz"), R"({"status":"degraded","slots":"ok","limits":"ok","dispatch":"ok",)"
                              R"("gateway":"ok","trial":"on_trial"})");
    EXPECT_THAT(get("/admin/plans"), HasSubstr("\"plans\":[]"));
}

json::object fragment(const std::string& path) {
    std::ifstream file{path};
    return json::parse(std::string{std::istreambuf_iterator<char>{file}, {}}).as_object();
}

TEST(Parts, AreAllInTheDescriptionThatIsMadeOfThem) {
    std::vector<http::DescribedRoutes> described{
        {http::server_routes(), fragment(SLUICE_ROOT "/src/door/http/server_routes.json")}};
    for (const PartPlan& part : all_parts()) {
        described.push_back({part.routes(), fragment(SLUICE_ROOT "/src/door/http/" + std::string{part.name} +
                                                     "_routes.json")});
    }
    described.push_back({trial_part().routes(), fragment(SLUICE_ROOT "/tests/trial_part/trial_routes.json")});

    const json::value document = http::assemble_openapi(described).value();

    EXPECT_EQ(document.at_pointer("/paths/~1api~1v1~1trial/get/operationId"), "showRounds");
}

}  // namespace
}  // namespace sluice::test
