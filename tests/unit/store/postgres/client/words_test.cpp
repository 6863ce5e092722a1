#include <set>

#include <gtest/gtest.h>

#include "store/postgres/client/connect_words_internal.hpp"
#include "store/postgres/client/pipeline_internal.hpp"
#include "store/postgres/client/schema.hpp"
#include "store/postgres/slots/store_health.hpp"

namespace sluice::postgres {
namespace {

TEST(PostgresArrayText, QuotesEveryText) {
    EXPECT_EQ(ArrayText{}.text(), "{}");
    EXPECT_EQ(ArrayText{}.add("").add("NULL").add_null().add(-7).text(), R"({"","NULL",NULL,-7})");
    EXPECT_EQ(ArrayText{}.add(R"(a"b\c,{})").text(), R"({"a\"b\\c,{}"})");
}

TEST(PostgresEffect, IsToldByTheFirstWords) {
    EXPECT_EQ(effect_of("begin"), Effect::Begins);
    EXPECT_EQ(effect_of("START TRANSACTION isolation level read committed"), Effect::Begins);
    EXPECT_EQ(effect_of(" Commit;"), Effect::Commits);
    EXPECT_EQ(effect_of("end"), Effect::Commits);
    EXPECT_EQ(effect_of("rollback"), Effect::RollsBack);
    EXPECT_EQ(effect_of("abort"), Effect::RollsBack);
    EXPECT_EQ(effect_of("rollback to savepoint s"), Effect::Works);
    EXPECT_EQ(effect_of("rollback prepared 'x'"), Effect::Works);
    EXPECT_EQ(effect_of("select 1"), Effect::Works);
    EXPECT_EQ(effect_of(""), Effect::Works);
}

TEST(PostgresFailure, SaysWhetherTryingAgainMayHelp) {
    for (const char* passing : {"40001", "40P01", "55P03", "57014", "57P01", "53300", "08006", "25006"}) {
        EXPECT_TRUE((Failure{passing, "", false, false}.retryable())) << passing;
    }
    for (const char* lasting : {"23505", "42P01", "22021", "42501", "0A000"}) {
        EXPECT_FALSE((Failure{lasting, "", false, false}.retryable())) << lasting;
    }
    EXPECT_TRUE((Failure{"XX000", "", true, false}.retryable()));
}

TEST(PostgresFailure, IsContendedWhenOthersHoldWhatIsNeeded) {
    for (const char* held : {"SL409", "55P03", "40P01"}) {
        EXPECT_TRUE((Failure{held, ""}.contended())) << held;
    }
    for (const char* other : {"40001", "57014", "08006", "SL404", "SL503"}) {
        EXPECT_FALSE((Failure{other, ""}.contended())) << other;
    }
}

// A code without a meaning would be trouble that nobody can tell the caller about.
TEST(PostgresFailure, HasAMeaningForEveryCodeThatOurFunctionsRaise) {
    constexpr std::string_view kRaise = "errcode = 'SL";
    std::set<std::string> codes;
    std::string_view sql = slot_functions();
    for (std::size_t at = sql.find(kRaise); at != std::string_view::npos; at = sql.find(kRaise)) {
        sql.remove_prefix(at + kRaise.size());
        codes.insert("SL" + std::string{sql.substr(0, 3)});
    }
    codes.erase("SLFRE");  // Caught where it is raised.

    EXPECT_GE(codes.size(), 8U);
    for (const std::string& code : codes) {
        EXPECT_NE(meaning_of(code), Meaning::Other) << code;
        EXPECT_TRUE(is_own(code)) << code;
    }
}

TEST(PostgresFailure, MeansTheSameForAllOfAClass) {
    EXPECT_EQ(meaning_of("08001"), Meaning::Passing);
    EXPECT_EQ(meaning_of("53200"), Meaning::Passing);
    EXPECT_EQ(meaning_of("53100"), Meaning::DiskFull);
    EXPECT_TRUE((Failure{"53100", ""}.retryable()));
    EXPECT_EQ(meaning_of("XX001"), Meaning::Other);
    EXPECT_EQ(meaning_of(""), Meaning::Other);
}

TEST(PostgresConnectWords, FillInWhatTheAddressLeavesOpen) {
    ConnectSettings settings;
    settings.dsn = "postgres://u@h1:1,h2:2/d?target_session_attrs=any&options=-c%20jit%3Doff";
    settings.connect_timeout = std::chrono::milliseconds{2500};

    const auto words = connect_words(settings);

    ASSERT_TRUE(words);
    EXPECT_EQ(words->at("host"), "h1,h2");
    EXPECT_EQ(words->at("target_session_attrs"), "any");
    EXPECT_EQ(words->at("application_name"), "sluice");
    EXPECT_EQ(words->at("connect_timeout"), "3");
    EXPECT_EQ(words->at("options").find("-c jit=off -c "), 0U);
    EXPECT_EQ(words->at("tcp_user_timeout"), "6000");
}

TEST(PostgresConnectWords, TakeOutOneOfSeveralHosts) {
    ConnectSettings settings;
    settings.dsn = "postgres://u@h1:1,h1:2,h3:3/d";
    auto words = connect_words(settings);
    ASSERT_TRUE(words);

    EXPECT_FALSE(leave_out_host(*words, "h3", "1"));
    EXPECT_TRUE(leave_out_host(*words, "h1", "2"));
    EXPECT_EQ(words->at("host"), "h1,h3");
    EXPECT_EQ(words->at("port"), "1,3");
    EXPECT_TRUE(leave_out_host(*words, "h1", "1"));
    EXPECT_EQ(words->at("host"), "h3");
    EXPECT_FALSE(leave_out_host(*words, "h3", "3")) << "the last one stays";
}

TEST(PostgresConnectWords, AreToldApartByHost) {
    ConnectSettings settings;
    settings.dsn = "postgres://u@h1,h2/d?port=7";

    const auto hosts = each_host(*connect_words(settings));

    ASSERT_EQ(hosts.size(), 2U);
    EXPECT_EQ(hosts[0].at("host"), "h1");
    EXPECT_EQ(hosts[1].at("host"), "h2");
    EXPECT_EQ(hosts[1].at("port"), "7");
    settings.dsn = "postgres://u@/d";
    EXPECT_EQ(each_host(*connect_words(settings)).size(), 1U);
}

TEST(PostgresConnectWords, SayTheSameInASessionThatLostItsOptions) {
    const std::string script = session_script({});

    EXPECT_NE(script.find("set_config('statement_timeout', '5000', false)"), std::string::npos);
    EXPECT_NE(script.find("set_config('default_transaction_isolation', 'read committed', false)"),
              std::string::npos);
}

TEST(PostgresClock, DiffersFromTheServersBeyondFiveSeconds) {
    using std::chrono::milliseconds;

    EXPECT_EQ(clock_sentence(milliseconds{5000}), std::nullopt);
    EXPECT_EQ(clock_sentence(milliseconds{-5000}), std::nullopt);
    EXPECT_EQ(clock_sentence(milliseconds{5001}), "this node's clock is 5 s ahead of PostgreSQL's");
    EXPECT_EQ(clock_sentence(milliseconds{-6000}), "this node's clock is 6 s behind PostgreSQL's");
}

TEST(PostgresOneLine, LeavesOutAdvice) {
    EXPECT_EQ(one_line("server closed the connection\n\tThis probably means\n"),
              "server closed the connection");
    EXPECT_EQ(one_line("a\nb\n"), "a; b");
    EXPECT_EQ(one_line(nullptr), "");
}

}  // namespace
}  // namespace sluice::postgres
