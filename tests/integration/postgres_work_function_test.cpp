// sluice.assign_slot with a target and a payload, in an application's own transaction.
#include <array>

#include "support/postgres_interleaving.hpp"

namespace sluice::test {
namespace {

class WorkFunction : public PostgresTest {
protected:
    WorkFunction() : PostgresTest{Furnished::WithSlots} {}

    void SetUp() override {
        PostgresTest::SetUp();
        if (!IsSkipped()) {
            owner_ = connect();
            ask(*owner_,
                "select sluice.put_config('a', 99, 1000, 'PT1S', 'a', null, 100, clock_timestamp())");
            session_ = connect();
            ask(*session_, "set role sluice_client");
        }
    }

    static std::string call(const std::string& event_id, const std::string& more) {
        return "select sluice.assign_slot('" + event_id + "', 'a', '2030-01-01Z'" + more + ")";
    }
    std::string stored() {
        return ask(*owner_,
                   "select concat_ws(' ', (select count(*) from rl_event_slot_dtl),"
                   " (select count(*) from sluice.work), (select count(*) from sluice.work_order))");
    }

    std::unique_ptr<postgres::Connection> owner_;
    std::unique_ptr<postgres::Connection> session_;
};

const std::string kWebhook = R"(, target => '{"type": "webhook", "url": "https://bank.example/pay?x=1"}')";

TEST_F(WorkFunction, StoresSlotOrderAndWorkWithTheTransactionOrNotAtAll) {
    ask(*session_, "begin; " + call("x", kWebhook) + "; rollback");
    EXPECT_EQ(stored(), "0 0 0");

    ask(*session_, "begin; savepoint s; " + call("gone", kWebhook) + "; rollback to s; " +
                       call("x", kWebhook) + "; " + call("x", kWebhook) + "; commit");

    EXPECT_EQ(stored(), "1 1 1");
    EXPECT_EQ(ask(*owner_, "select count(*) from rl_wndw_ct where slot_ct > 0"), "1");
}

TEST_F(WorkFunction, LeavesItToTheTakerWhereTheWorkGoes) {
    ask(*session_, call("x", kWebhook + R"(, payload => '{"n": 12.50, "ü": [1]}')"));
    ask(*session_, call("y", R"(, target => '{"type": "kafka", "topic": "a.b-c"}')"));
    ask(*session_, call("z", R"(, target => '{"type": "log"}', payload => 'null')"));

    EXPECT_EQ(ask(*owner_,
                  "select string_agg(concat_ws(' ', event_id, o.target_cd, o.address_tx, w.host_nm is null,"
                  " o.endpoint_nm is null, w.state_cd, w.lane_cd, convert_from(o.payload, 'UTF8')), E'\\n'"
                  " order by event_id) from sluice.work_order o join sluice.work w using (event_id)"),
              "x 2 https://bank.example/pay?x=1 t t 1 1 {\"n\": 12.50, \"ü\": [1]}\n"
              "y 3 a.b-c t t 1 1 \nz 1  t t 1 1 null");
}

TEST_F(WorkFunction, AnswersAKnownEventWithTheSlotItHas) {
    const auto slot = ask(*session_, call("x", ""));

    EXPECT_EQ(ask(*session_, call("x", kWebhook)), slot);

    EXPECT_EQ(stored(), "1 0 0");
}

TEST_F(WorkFunction, TellsNodesOnceInATransactionUnlessSomethingIsDueEarlier) {
    const auto listener = connect();
    ask(*listener, "listen sluice");

    ask(*session_, "begin; select sluice.assign_slot('1', 'a', '2030-01-01Z'" + kWebhook +
                       "); select sluice.assign_slot('2', 'a', '2031-01-01Z'" + kWebhook +
                       "); select sluice.assign_slot('3', 'a', '2029-01-01Z'" + kWebhook +
                       "); select sluice.assign_slot('4', 'a', '2028-01-01Z'); commit");

    const auto told = listener->wait(10s);
    ASSERT_TRUE(told);
    std::vector<std::string> years;
    for (const auto& one : *told) {
        years.push_back(ask(*owner_, "select extract(year from sluice.from_ms(split_part('" + one.payload +
                                         "', ' ', 2)::bigint))"));
    }
    EXPECT_THAT(years, testing::ElementsAre("2030", "2029"));
}

TEST_F(WorkFunction, RefusesWhatIsNoTargetAndStoresNothing) {
    using Wrong = std::pair<std::string, std::string>;  // Arguments, and what is said of them.
    const auto wrong = std::to_array<Wrong>(
        {{"payload => '1'", "payload says nothing without a target."},
         {"target => '[]'", "target must be an object like {\"type\": \"log\"}."},
         {"target => 'null'", "target must be an object like {\"type\": \"log\"}."},
         {"target => '{}'", "The type of a target is webhook, kafka or log."},
         {"target => '{\"type\": 1}'", "The type of a target is webhook, kafka or log."},
         {"target => '{\"type\": \"fax\"}'", "The type of a target is webhook, kafka or log."},
         {"target => '{\"type\": \"temporal\"}'",
          "Targets of type temporal are not supported by this version."},
         {"target => '{\"type\": \"log\", \"url\": \"x\"}'", "url is not a field of a target of type log."},
         {"target => '{\"type\": \"webhook\", \"url\": \"http://h/\", \"topic\": \"t\"}'",
          "topic is not a field of a target of type webhook."},
         {"target => '{\"type\": \"webhook\"}'", "A target of type webhook has a url, which is text."},
         {"target => '{\"type\": \"webhook\", \"url\": 1}'",
          "A target of type webhook has a url, which is text."},
         {"target => '{\"type\": \"webhook\", \"url\": \"ftp://h/\"}'",
          "The URL begins neither with http:// nor with https://."},
         {"target => '{\"type\": \"webhook\", \"url\": \"https://u:p@h/\"}'",
          "The URL has credentials; headers of an endpoint can come from files."},
         {"target => '{\"type\": \"webhook\", \"url\": \"https:///pay\"}'", "The URL has no host."},
         {"target => '{\"type\": \"kafka\", \"topic\": \"a b\"}'",
          "A topic has 1 to 249 of A-Z a-z 0-9 . _ -, and is not . or .."},
         {"target => '{\"type\": \"log\"}', payload => to_jsonb(repeat('x', 16383))",
          "payload has 16385 bytes as text; it may have 16384."}});
    for (const auto& [arguments, message] : wrong) {
        SCOPED_TRACE(arguments);
        const auto rows = session_->run_script(call("x", ", " + arguments));

        ASSERT_FALSE(rows);
        EXPECT_EQ(rows.error().sqlstate, "SL400");
        EXPECT_EQ(rows.error().message, message);
    }
    EXPECT_EQ(stored(), "0 0 0");
    EXPECT_EQ(state_of(*session_, call("x",
                                       ", target => '{\"type\": \"log\"}', payload => "
                                       "to_jsonb(repeat('x', 16382))")),
              "");
}

}  // namespace
}  // namespace sluice::test
