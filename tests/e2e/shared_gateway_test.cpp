#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "support/cli_process.hpp"
#include "support/gateway_topic.hpp"
#include "support/kafka_fixture.hpp"
#include "support/postgres_fixture.hpp"
#include "support/raw_http.hpp"

// The gateway of several servers on one PostgreSQL.
namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSend = R"({"userId":101,"message":"Hello World","requestId":"r-1"})";

class SharedGateway : public PostgresTest {
protected:
    SharedGateway() : PostgresTest{Furnished::WithSlots} {}

    // The answer to a send of Ann's.
    static HttpAnswer send(const CliServer& server, const std::string& text) {
        return call(server.port(), "POST", "/api/send", R"({"userId":101,"message":")" + text + R"("})");
    }
    static int set_limit(const CliServer& server, int limit) {
        return call(server.port(), "POST", "/api/config",
                    R"({"userId":101,"timeWindow":5,"rateLimit":)" + std::to_string(limit) + "}")
            .status;
    }
    // How often a text was sent, by both.
    static std::size_t times(const std::string& errors, const std::string& text) {
        std::size_t count = 0;
        for (std::size_t at = errors.find(text); at != std::string::npos; at = errors.find(text, at + 1)) {
            ++count;
        }
        return count;
    }
};

TEST_F(SharedGateway, CountsAUserAndKnowsARequestOnEveryNode) {
    CliServer first{{"--store", dsn()}};
    CliServer second{{"--store", dsn()}};
    ASSERT_EQ(set_limit(first, 3), 200);

    const auto sent = call(first.port(), "POST", "/api/send", kSend);
    const auto again = call(second.port(), "POST", "/api/send", kSend);
    EXPECT_EQ(send(first, "two").status, 200);
    EXPECT_EQ(send(second, "three").status, 200);
    const auto denied = send(first, "four");

    EXPECT_EQ(sent.body, "Message Sent Successfully");
    EXPECT_EQ(again.body, "Message Sent Successfully");
    EXPECT_NE(sent.header("Message-Id"), "");
    EXPECT_EQ(again.header("Message-Id"), sent.header("Message-Id"));
    EXPECT_EQ(denied.status, 429);
    EXPECT_EQ(denied.body, "Rate Limit Exceeded");
    EXPECT_NE(denied.header("Retry-After"), "");
    EXPECT_THAT(call(second.port(), "GET", "/api/config/101").body, HasSubstr(R"("currentCount":3)"));
    const auto session = connect();
    EXPECT_EQ(ask(*session, "select \"currentCount\" from \"PostgresEntity\" where \"userId\" = 101"), "3");
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (ask(*session, "select count(*) from sluice.gateway_outbox") != "0") {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        std::this_thread::sleep_for(5ms);  // Between two looks.
    }
    const std::string lines = first.process().errors() + second.process().errors();
    for (const std::string text : {"Hello World", "two", "three"}) {
        EXPECT_EQ(times(lines, "SMS Sent: 101: " + text), 1U) << lines;
    }
    EXPECT_THAT(lines, Not(HasSubstr("four")));
    EXPECT_THAT(call(second.port(), "GET", "/api/messages/" + sent.header("Message-Id")).body,
                HasSubstr(R"("state":"sent")"));
}

TEST_F(SharedGateway, SendsWhatAKilledNodeHasAccepted) {
    const auto session = connect();
    CliServer first{{"--store", dsn()}};
    ASSERT_EQ(set_limit(first, 30), 200);
    // The first has claimed it, and is killed before it is sent.
    ask(*session,
        "insert into sluice.gateway_outbox (message_id, user_no, message_by, sender_nm, claimed_ts)"
        " values ('m', 101, 'left behind', 'another', clock_timestamp() + interval '2 s')");
    first.process().signal(SIGKILL);
    first.process().wait();

    CliServer second{{"--store", dsn()}};

    EXPECT_TRUE(second.process().wait_for_error_text("SMS Sent: 101: left behind"));
}

// Counted in one place, and sent once by whichever server reads that part of the topic.
TEST_F(SharedGateway, CountsOnPostgresWhatItSendsOverKafka) {
    SLUICE_NEEDS_KAFKA();
    const Words words{"--store", dsn(), "--kafka", kafka_address()};
    CliServer first{words};
    CliServer second{words};
    ASSERT_EQ(set_limit(first, 3), 200);
    const std::string run = fresh_topic("run");

    // Refused, and given back, until the topic is known.
    EXPECT_TRUE(comes_true([&] { return send(first, run + " one").status == 200; }));
    EXPECT_TRUE(comes_true([&] { return send(second, run + " two").status == 200; }));
    const std::string named = R"({"userId":101,"requestId":"r-1","message":")" + run + R"( three"})";
    const auto sent = call(first.port(), "POST", "/api/send", named);
    const auto again = call(second.port(), "POST", "/api/send", named);

    EXPECT_EQ(sent.status, 200);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.header("Message-Id"), sent.header("Message-Id"));
    EXPECT_EQ(send(second, run + " four").status, 429);
    std::multiset<std::string> on_topic;
    for (const auto& message : read_topic("sms-outbound")) {
        if (message.value.value_or("").find(run) != std::string::npos) {
            on_topic.insert(*message.value);
        }
    }
    const std::string beginning = "101: " + run;
    EXPECT_THAT(on_topic, ElementsAre(beginning + " one", beginning + " three", beginning + " two"));
    const auto lines = [&] { return first.process().errors() + second.process().errors(); };
    for (const std::string text : {" one", " two", " three"}) {
        EXPECT_TRUE(comes_true([&] { return times(lines(), "SMS Sent: 101: " + run + text) == 1; })) << text;
    }
    EXPECT_EQ(times(lines(), "SMS Sent: 101: " + run), 3U) << lines();
}

TEST_F(SharedGateway, TellsThatPostgresIsDownAndGoesOnByItself) {
    OwnServer postgres;
    CliServer server{{"--store", postgres.dsn()}};
    ASSERT_EQ(set_limit(server, 1'000), 200);
    ASSERT_EQ(send(server, "one").status, 200);
    postgres.kill();

    const auto refused = send(server, "two");

    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.body, "Postgres Down : Service Unavailable");
    EXPECT_EQ(set_limit(server, 5), 503);
    postgres.revive();
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (send(server, "three").status != 200) {
        ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        std::this_thread::sleep_for(20ms);  // Between two tries.
    }
    EXPECT_TRUE(server.process().wait_for_error_text("SMS Sent: 101: three"));
}

TEST_F(SharedGateway, ATableOfAnotherShapeIsSaidInOneSentence) {
    const FreshDatabase fresh;
    ask(*test::connect(fresh.dsn()), "create table \"PostgresEntity\" (\"userId\" bigint primary key)");

    const CliResult result = run_cli({"serve", "--listen", "127.0.0.1:0", "--store", fresh.dsn()});

    EXPECT_EQ(result.ending.code, 1);
    EXPECT_THAT(result.errors,
                HasSubstr("table public.\"PostgresEntity\" cannot be used by the gateway: column \"userId\" "
                          "is of type bigint and must be integer"));
}

}  // namespace
}  // namespace sluice::test
