// Places at gates for callers outside, as the contract words them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/door_fixture.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

constexpr std::string_view kPath = "/api/v1/permits";

// A store in which a host and a pool have a rate.
struct RatedWorld : WorkWorld {
    explicit RatedWorld(bool keeps = true) {
        works.kept.gates.emplace(Subject{SubjectKind::Host, "pay.example"}, GateTerms{50});
        works.kept.gates.emplace(Subject{SubjectKind::Pool, "default"}, GateTerms{1});
        works.keeps = keeps;
    }
};

class HttpPermits : protected RatedWorld, public DoorFixture {
protected:
    HttpPermits() : DoorFixture{{}, {}, {}, this} {}

    HttpAnswer end(const std::string& id) const {
        return call(port(), "DELETE", std::string{kPath} + "/" + id, "");
    }
};

std::string id_in(const HttpAnswer& answer) {
    constexpr std::string_view kBefore = R"({"permit":")";
    return answer.body.substr(kBefore.size(), PermitOffice::kIdSize);
}

TEST_F(HttpPermits, AreGivenAndAreOverWhenTheirCallIs) {
    const auto given = post(kPath, R"({"gate":"host:PAY.example"})");

    ASSERT_EQ(given.status, 200) << given.body;
    EXPECT_THAT(given.body,
                MatchesRegex(R"(\{"permit":"[0-9a-f]{32}","notBefore":"[-0-9]+T[:.0-9]+Z","validMs":100\})"));
    EXPECT_THAT(works.lent, testing::ElementsAre(id_in(given)));

    EXPECT_EQ(end(id_in(given)).status, 204);
    EXPECT_THAT(works.lent, IsEmpty());
    EXPECT_EQ(end(id_in(given)).status, 204) << "It is over already.";
}

TEST_F(HttpPermits, AreOfAPoolIfNothingElseIsSaid) {
    EXPECT_EQ(post(kPath, R"({"gate":"default"})").status, 200);
    EXPECT_THAT(works.lent, SizeIs(1));
}

TEST_F(HttpPermits, AreNotThereForEverybodyAtOnce) {
    ASSERT_EQ(post(kPath, R"({"gate":"pool:default"})").status, 200);

    const auto second = post(kPath, R"({"gate":"pool:default"})");

    EXPECT_EQ(second.status, 429);
    EXPECT_THAT(second.body, HasSubstr(R"("code":"gate_busy")"));
    EXPECT_GE(std::stoi(second.header("Retry-After")), 10);
}

TEST_F(HttpPermits, AreNotThereWithoutARate) {
    const auto answer = post(kPath, R"({"gate":"host:elsewhere"})");

    EXPECT_EQ(answer.status, 404);
    EXPECT_THAT(answer.body, HasSubstr(R"("code":"unknown_gate")"));
}

TEST_F(HttpPermits, NeedAGateThatCanBeOne) {
    for (const auto* const body : {"{}", R"({"gate":7})", R"({"gate":""})", R"({"gate":"host:"})",
                                   R"({"gate":"host:a b"})", R"({"gate":"pool:"})"}) {
        const auto answer = post(kPath, body);

        EXPECT_EQ(answer.status, 400) << body;
        EXPECT_THAT(answer.body, HasSubstr(R"("code":"invalid_gate")"));
    }
    EXPECT_THAT(post(kPath, R"({"gate":"default","rate":1})").body, HasSubstr("unknown_field"));
    EXPECT_THAT(post(kPath, "[]").body, HasSubstr("malformed_json"));
    EXPECT_THAT(end("17").body, HasSubstr("invalid_permit"));
    EXPECT_THAT(works.lent, IsEmpty());
}

class HttpPermitsElsewhere : protected RatedWorld, public DoorFixture {
protected:
    HttpPermitsElsewhere() : RatedWorld{false}, DoorFixture{{}, {}, {}, this} {}
};

TEST_F(HttpPermitsElsewhere, AreGivenByTheKeeperAlone) {
    const auto answer = post(kPath, R"({"gate":"host:pay.example"})");

    EXPECT_EQ(answer.status, 503);
    EXPECT_THAT(answer.body, HasSubstr(R"("code":"not_keeper")"));
    EXPECT_EQ(answer.header("Retry-After"), "1");
}

class HttpPermitsWithoutWork : public DoorFixture {};

TEST_F(HttpPermitsWithoutWork, AreNotSupported) {
    const std::string id(PermitOffice::kIdSize, 'a');

    EXPECT_THAT(post(kPath, R"({"gate":"default"})").body, HasSubstr("not_supported"));
    EXPECT_THAT(call(port(), "DELETE", std::string{kPath} + "/" + id, "").body, HasSubstr("not_supported"));
}

}  // namespace
}  // namespace sluice::test
