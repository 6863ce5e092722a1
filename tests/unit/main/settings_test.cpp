#include "main/settings.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "base/nearest.hpp"
#include "files/limiter_file.hpp"
#include "support/temp_folder.hpp"

namespace sluice {
namespace {

using test::TempFolder;
using ::testing::HasSubstr;

std::string write_file(const TempFolder& folder, const std::string& text,
                       const std::string& name = "sluice.yaml") {
    std::ofstream{folder / name} << text;
    return folder / name;
}

Settings must_load(const FlagValues& flags, const Environment& variables = {}) {
    const auto loaded = load_settings(flags, variables);
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error());
    return loaded->settings;
}

std::string error_of(const FlagValues& flags, const Environment& variables = {}) {
    const auto loaded = load_settings(flags, variables);
    return loaded ? "no error" : loaded.error();
}

std::string error_of_file(const std::string& text) {
    const TempFolder folder;
    return error_of({{"config", write_file(folder, text)}});
}

TEST(LimiterFile, HasTheDefaultsOfTheServer) {
    const TempFolder folder;
    const auto limiter = read_limiter_file(write_file(folder, "plans: []\n", "limiter.yaml"));
    const Settings server = must_load({});

    ASSERT_TRUE(limiter) << limiter.error();
    EXPECT_EQ(limiter->limits.keys_max, server.limits.keys_max);
    EXPECT_EQ(limiter->limits.list_bytes_max, server.limits.list_bytes_max);
    EXPECT_EQ(limiter->limits.deadline, server.limits.deadline);
    EXPECT_EQ(limiter->limits.fail_open_time, server.limits.fail_open_time);
    EXPECT_EQ(limiter->limits.fail_open_tokens, server.limits.fail_open_tokens);
    EXPECT_EQ(limiter->redis.timeout, server.redis.timeout);
    EXPECT_EQ(limiter->redis.allow_eviction, server.redis.allow_eviction);
    EXPECT_EQ(limiter->redis.tls_ca, server.redis.tls_ca);
    EXPECT_EQ(limiter->postgres.migrate, server.postgres.migrate);
}

TEST(Settings, HaveTheDefaultsOfTheContract) {
    const Settings settings = must_load({});

    EXPECT_EQ(settings.listen, (net::HostPort{"127.0.0.1", 8080}));
    EXPECT_EQ(settings.data, "./data");
    EXPECT_EQ(settings.store, StoreKind::Embedded);
    EXPECT_EQ(settings.token_file, "");
    EXPECT_EQ(settings.log_level, LogLevel::Info);
    EXPECT_EQ(settings.log_format, LogFormat::Text);
    EXPECT_EQ(settings.default_config.text(), "default");
    EXPECT_EQ(settings.config_cache_ttl, std::chrono::seconds{5});
    EXPECT_EQ(settings.batch_max, 256U);
    EXPECT_FALSE(settings.strict);
    EXPECT_EQ(settings.plans, "");
    EXPECT_EQ(settings.limits.keys_max, 1'000'000U);
    EXPECT_EQ(settings.limits.deadline, std::chrono::milliseconds{50});
    EXPECT_EQ(settings.limits.fail_open_time, std::chrono::minutes{5});
    EXPECT_EQ(settings.limits.fail_open_tokens, 1'000'000U);
    EXPECT_EQ(settings.limits.deny_cache, Duration{0});
    EXPECT_EQ(settings.limits.lease_time, std::chrono::seconds{1});
}

TEST(Settings, LetAFlagBeatAVariableAndAVariableBeatTheFile) {
    const TempFolder folder;
    const std::string file =
        write_file(folder, "listen: 127.0.0.1:1\ndata: from-file\nlogLevel: debug\nslots:\n  batchMax: 7\n");

    const Settings settings = must_load({{"config", file}, {"listen", "127.0.0.1:3"}},
                                        {{"SLUICE_LISTEN", "127.0.0.1:2"}, {"SLUICE_DATA", "from-variable"}});

    EXPECT_EQ(settings.listen.port, 3);
    EXPECT_EQ(settings.data, "from-variable");
    EXPECT_EQ(settings.log_level, LogLevel::Debug);
    EXPECT_EQ(settings.batch_max, 7U);
}

TEST(Settings, FindTheFileThroughAVariable) {
    const TempFolder folder;

    EXPECT_EQ(must_load({}, {{"SLUICE_CONFIG", write_file(folder, "store: memory\n")}}).store,
              StoreKind::Memory);
}

TEST(Settings, HaveVariablesForNestedKeys) {
    const Settings settings = must_load({}, {{"SLUICE_SLOTS_BATCH_MAX", "12"},
                                             {"SLUICE_SLOTS_DEFAULT_CONFIG", "payments"},
                                             {"SLUICE_SLOTS_CONFIG_CACHE_TTL", "PT0.5S"},
                                             {"SLUICE_SLOTS_STRICT", "true"}});

    EXPECT_EQ(settings.batch_max, 12U);
    EXPECT_EQ(settings.default_config.text(), "payments");
    EXPECT_EQ(settings.config_cache_ttl, std::chrono::milliseconds{500});
    EXPECT_TRUE(settings.strict);
}

TEST(Settings, ReadASecretFromAFile) {
    const TempFolder folder;
    const std::string file = write_file(folder, "memory\n", "store-secret");

    EXPECT_EQ(must_load({}, {{"SLUICE_STORE_FILE", file}}).store, StoreKind::Memory);
    EXPECT_THAT(error_of({}, {{"SLUICE_STORE_FILE", folder / "missing"}}), HasSubstr("SLUICE_STORE_FILE"));
    EXPECT_THAT(error_of({}, {{"SLUICE_STORE_FILE", file}, {"SLUICE_STORE", "memory"}}),
                HasSubstr("both set"));
    EXPECT_EQ(error_of({}, {{"SLUICE_STORE_FILE", file}, {"SLUICE_STORE", ""}}), "no error");
}

TEST(Settings, LeaveVariablesOfOthersAlone) {
    EXPECT_EQ(error_of({}, {{"SLUICE_TEST_POSTGRES", "x"},
                            {"SLUICE_SERVER", "http://h:1"},
                            {"SLUICE_CA", "ca.pem"},
                            {"SLUICE_CLIENT_CERT", "cert.pem"},
                            {"SLUICE_CLIENT_KEY", "key.pem"},
                            {"SLUICE_SERVICES", "x"},
                            {"SLUICE_SERVICES_FSYNC", "off"},
                            {"SLUICER", "x"},
                            {"SLUICE_LISTEN", ""},
                            {"PATH", "x"}}),
              "no error");
}

TEST(Settings, TakeThePlansFileFromEverySource) {
    EXPECT_EQ(must_load({{"plans", "a.yaml"}}).plans, "a.yaml");
    EXPECT_EQ(must_load({}, {{"SLUICE_PLANS", "b.yaml"}}).plans, "b.yaml");
    const TempFolder folder;
    EXPECT_EQ(
        must_load({{"config", write_file(folder, "plans: c.yaml\nlimits:\n  deadline: PT0.1S\n")}}).plans,
        "c.yaml");
    EXPECT_THAT(error_of({}, {{"SLUICE_LIMITS_KEYS_MAX", "0"}}), HasSubstr("SLUICE_LIMITS_KEYS_MAX"));
    EXPECT_THAT(error_of({}, {{"SLUICE_LIMITS_DEADLINE", "50 ms"}}), HasSubstr("SLUICE_LIMITS_DEADLINE"));
}

TEST(Settings, RememberDenialsOnlyWhenTold) {
    const auto deny_cache = [](const std::string& value) {
        return must_load({}, {{"SLUICE_LIMITS_DENY_CACHE", value}}).limits.deny_cache;
    };

    EXPECT_EQ(deny_cache("PT2S"), std::chrono::seconds{2});
    EXPECT_EQ(deny_cache("500ms"), std::chrono::milliseconds{500});
    EXPECT_EQ(deny_cache("0"), Duration{0});
    EXPECT_THAT(error_of({}, {{"SLUICE_LIMITS_DENY_CACHE", "soon"}}), HasSubstr("SLUICE_LIMITS_DENY_CACHE"));
    EXPECT_EQ(must_load({}, {{"SLUICE_LIMITS_LEASE_TIME", "250ms"}}).limits.lease_time,
              std::chrono::milliseconds{250});
}

TEST(Settings, NameTheNearestKnownNameOfAnUnknownOne) {
    EXPECT_THAT(error_of({}, {{"SLUICE_LISTN", "x"}}), HasSubstr("'SLUICE_LISTEN'"));
    EXPECT_THAT(error_of_file("slots:\n  bachMax: 3\n"), HasSubstr("'slots.batchMax'"));
    EXPECT_THAT(error_of_file("slots:\n  bachMax: 3\n"), HasSubstr("line 2"));
    EXPECT_THAT(error_of_file("token-file: x\n"), HasSubstr("'tokenFile'"));
    EXPECT_THAT(error_of_file("spaghetti: x\n"), HasSubstr("--print-config' lists all"));
}

TEST(Settings, RefuseWhatThisVersionCannotDo) {
    int later = 0;
    for (const SettingSpec& spec : settings_table()) {
        if (spec.support == Support::Built) {
            continue;
        }
        ++later;
        const std::string sentence = "is not supported by this version yet.";
        EXPECT_THAT(error_of({}, {{spec.variable(), "x"}}), HasSubstr(sentence)) << spec.key;
        EXPECT_THAT(error_of_file(std::string{spec.key} + ": [x]\n"), HasSubstr(sentence)) << spec.key;
        if (!spec.flag().empty()) {
            EXPECT_EQ(error_of({{spec.flag().substr(2), "x"}}), spec.flag() + " " + sentence);
        }
    }
    EXPECT_EQ(later, 9);
}

TEST(Settings, TakeACertificateWithItsKeyAndNothingLess) {
    const std::string sentence = "TLS needs a certificate and its key; give --tls-cert and --tls-key.";
    EXPECT_FALSE(must_load({}).tls.has_value());
    EXPECT_EQ(must_load({{"tls-cert", "c"}, {"tls-key", "k"}}).tls.value().client_ca, "");
    EXPECT_EQ(must_load({{"tls-cert", "c"}}, {{"SLUICE_TLS_KEY", "k"}, {"SLUICE_TLS_CLIENT_CA", "a"}})
                  .tls.value()
                  .client_ca,
              "a");
    EXPECT_EQ(error_of({{"tls-cert", "c"}}), "--tls-cert: " + sentence);
    EXPECT_EQ(error_of({}, {{"SLUICE_TLS_KEY", "k"}}), "SLUICE_TLS_KEY: " + sentence);
    EXPECT_EQ(error_of({{"tls-client-ca", "a"}}), "--tls-client-ca: " + sentence);
    EXPECT_THAT(error_of_file("tlsKey: k\n"), HasSubstr("sluice.yaml, line 1: tlsKey: " + sentence));
}

TEST(Settings, TakeTheAddressOfARedisAndShortTimes) {
    EXPECT_EQ(must_load({}).redis.address, "");
    EXPECT_EQ(must_load({}).redis.timeout, Duration{50});
    EXPECT_EQ(must_load({{"redis", "127.0.0.1:6379"}}).redis.address, "127.0.0.1:6379");
    EXPECT_EQ(must_load({}, {{"SLUICE_REDIS_TIMEOUT", "2s"}}).redis.timeout, Duration{2'000});
    EXPECT_EQ(must_load({}, {{"SLUICE_REDIS_TIMEOUT", "PT0.2S"}}).redis.timeout, Duration{200});
    EXPECT_EQ(must_load({}, {{"SLUICE_LIMITS_FAIL_OPEN_TIME", "2m"}}).limits.fail_open_time,
              std::chrono::minutes{2});
    EXPECT_EQ(must_load({}, {{"SLUICE_LIMITS_FAIL_OPEN_TIME", "31d"}}).limits.fail_open_time,
              std::chrono::days{31});
    for (const char* wrong : {"0ms", "-1s", "1y", "ms", "32d", "745h", "99999999999999999999s"}) {
        EXPECT_THAT(error_of({}, {{"SLUICE_REDIS_TIMEOUT", wrong}}), HasSubstr("duration")) << wrong;
    }
}

TEST(Settings, TakeTheBrokersOfKafka) {
    const auto none = load_settings({}, {});
    const auto two =
        load_settings({{"kafka", "a:9092,[::1]:9093"}}, {{"SLUICE_KAFKA_PUBLISH_TIMEOUT", "2s"}});

    ASSERT_TRUE(none);
    EXPECT_EQ(none->settings.kafka.brokers, "");
    EXPECT_EQ(none->settings.kafka.publish_timeout, std::chrono::seconds{5});
    ASSERT_TRUE(two) << two.error();
    EXPECT_EQ(two->settings.kafka.brokers, "a:9092,[::1]:9093");
    EXPECT_EQ(two->settings.kafka.publish_timeout, std::chrono::seconds{2});
    for (const char* const wrong :
         {"a", "a:9092,", ",a:9092", "a:9092,,b:1", "a:0", "kafka://a:1", "a:1 b:2"}) {
        EXPECT_EQ(error_of({{"kafka", wrong}}),
                  "--kafka: '" + std::string{wrong} + "' is not host:port, or several of them with commas.");
    }
    EXPECT_EQ(error_of({}, {{"SLUICE_KAFKA_PUBLISH_TIMEOUT", "6m"}}),
              "SLUICE_KAFKA_PUBLISH_TIMEOUT: it lies between 100ms and 5m.");
}

TEST(Settings, LeaveSendingToOthersOnlyWithKafka) {
    const auto here = load_settings({{"kafka", "a:1"}}, {});
    const auto elsewhere = load_settings(
        {{"kafka", "a:1"}}, {{"SLUICE_GATEWAY_SENDER", "false"}, {"SLUICE_KAFKA_REPLICATION", "3"}});

    ASSERT_TRUE(here);
    EXPECT_TRUE(here->settings.gateway.sender);
    EXPECT_EQ(here->settings.kafka.replication, 1);
    ASSERT_TRUE(elsewhere) << elsewhere.error();
    EXPECT_FALSE(elsewhere->settings.gateway.sender);
    EXPECT_EQ(elsewhere->settings.kafka.replication, 3);
    EXPECT_EQ(error_of({}, {{"SLUICE_GATEWAY_SENDER", "false"}}),
              "SLUICE_GATEWAY_SENDER: without Kafka nobody else could send; give --kafka, or leave it out.");
    EXPECT_THAT(error_of({}, {{"SLUICE_KAFKA_REPLICATION", "0"}}), HasSubstr("SLUICE_KAFKA_REPLICATION: "));
}

TEST(Settings, TakeTheAddressOfAPostgresServer) {
    const Settings settings = must_load({{"store", "postgres://app@db/x"}});

    EXPECT_EQ(settings.store, StoreKind::Postgres);
    EXPECT_EQ(settings.postgres.dsn, "postgres://app@db/x");
    EXPECT_THAT(error_of({{"store", "postgre://app:hunter2@db/x"}}), Not(HasSubstr("hunter2")));
}

TEST(Settings, WantAConnectionMoreThanThereAreWorkers) {
    EXPECT_EQ(error_of({}, {{"SLUICE_POSTGRES_POOL_MAX", "5"}}), "no error");
    EXPECT_THAT(error_of({}, {{"SLUICE_POSTGRES_POOL_MAX", "4"}}),
                HasSubstr("SLUICE_POSTGRES_POOL_MAX: '4'"));
}

TEST(Settings, CountARetentionInDays) {
    const auto retention = [](const char* value) {
        return must_load({}, {{"SLUICE_SLOTS_RETENTION", value}}).retention;
    };

    EXPECT_EQ(retention("90d"), std::chrono::days{90});
    EXPECT_EQ(retention("P90D"), std::chrono::days{90});
    for (const char* wrong : {"d", "PD", "0d", "90", "90h", "-1d", "36501d", "PT90D"}) {
        EXPECT_THAT(error_of({}, {{"SLUICE_SLOTS_RETENTION", wrong}}), HasSubstr("number of days like 90d"));
    }
}

TEST(Settings, SayWhereAWrongValueStands) {
    EXPECT_THAT(error_of({{"log-level", "loud"}}), ::testing::StartsWith("--log-level: 'loud'"));
    EXPECT_THAT(error_of({}, {{"SLUICE_LOG_FORMAT", "xml"}}),
                ::testing::StartsWith("SLUICE_LOG_FORMAT: 'xml'"));
    EXPECT_THAT(error_of_file("slots: {batchMax: 0}\n"), HasSubstr("line 1: slots.batchMax: '0'"));
    EXPECT_THAT(error_of_file("slots: {batchMax: 1e3}\n"), HasSubstr("whole number"));
    EXPECT_THAT(error_of_file("slots: {configCacheTtl: 5sec}\n"), HasSubstr("duration"));
    EXPECT_THAT(error_of_file("slots: {strict: yes}\n"), HasSubstr("none of: false, true"));
    EXPECT_THAT(error_of_file("slots: {defaultConfig: \"a\\nb\"}\n"), HasSubstr("control characters"));
    EXPECT_THAT(error_of({{"listen", "8080"}}), HasSubstr("host:port"));
    EXPECT_THAT(error_of({{"listen", "127.0.0.1:70000"}}), HasSubstr("port"));
    EXPECT_THAT(error_of({{"data", ""}}), HasSubstr("--data"));
    EXPECT_THAT(error_of({{"store", "memori"}}),
                HasSubstr("none of: embedded, memory, postgres://user@host:port/database."));
    EXPECT_THAT(error_of({}, {{"SLUICE_STORE_FILE", "none"}}), HasSubstr("No such file or directory"));
}

TEST(SettingsFile, IsRefusedWhenItIsNoTreeOfKeysAndValues) {
    EXPECT_THAT(error_of({{"config", "no-such-file.yaml"}}), HasSubstr("cannot be read: No such file"));
    EXPECT_THAT(error_of({{"config", TempFolder{} / ""}}), HasSubstr("cannot be read: "));
    EXPECT_THAT(error_of_file("listen: [unclosed\n"), HasSubstr("is not YAML"));
    EXPECT_THAT(error_of_file("- a\n- b\n"), HasSubstr("not a tree"));
    EXPECT_THAT(error_of_file("listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n"), HasSubstr("twice"));
    EXPECT_THAT(error_of_file("listen:\n"), HasSubstr("no value"));
    EXPECT_THAT(error_of_file("listen: [a, b]\n"), HasSubstr("not a list"));
    EXPECT_THAT(error_of_file("a: &a\n  b: *a\n"), ::testing::Ne("no error"));
    EXPECT_EQ(error_of_file(""), "no error");
    EXPECT_EQ(error_of_file("# nothing\n"), "no error");
}

TEST(PrintedSettings, SayWhereEachCameFrom) {
    const TempFolder folder;
    const std::string file = write_file(folder, "slots:\n  batchMax: 7\n");
    const auto loaded = load_settings({{"config", file}, {"data", "a b"}}, {{"SLUICE_LISTEN", "[::1]:80"}});
    ASSERT_TRUE(loaded);

    const std::string text = print_settings(*loaded);

    EXPECT_THAT(text, ::testing::ContainsRegex("\nlisten: \"\\[::1\\]:80\" +# SLUICE_LISTEN\n"));
    EXPECT_THAT(text, ::testing::ContainsRegex("\ndata: \"a b\" +# --data\n"));
    EXPECT_THAT(text, ::testing::ContainsRegex("\nlogLevel: info +# default\n"));
    EXPECT_THAT(text, ::testing::ContainsRegex("\n# tokenFile: +# not set\n"));
    EXPECT_THAT(text, ::testing::ContainsRegex("\nslots.batchMax: 7 +# .*sluice.yaml, line 2\n"));
}

TEST(PrintedSettings, AreASettingsFileThatSaysTheSame) {
    const TempFolder folder;
    const auto loaded =
        load_settings({{"listen", "[::1]:80"}, {"data", "a\"b\\c #d"}, {"token-file", "null"}},
                      {{"SLUICE_SLOTS_DEFAULT_CONFIG", "- \xC3\xA4: x"},
                       {"SLUICE_STORE_RESERVE", "3MiB"},
                       {"SLUICE_REDIS", "127.0.0.1:6379"}});
    ASSERT_TRUE(loaded);

    const Settings again = must_load({{"config", write_file(folder, print_settings(*loaded))}});

    EXPECT_EQ(again.listen, loaded->settings.listen);
    EXPECT_EQ(again.data, loaded->settings.data);
    EXPECT_EQ(again.token_file, "null");
    EXPECT_EQ(again.default_config, loaded->settings.default_config);
    EXPECT_EQ(again.embedded.reserve, std::uint64_t{3} << 20U);
    EXPECT_EQ(again.redis.address, "127.0.0.1:6379");
}

TEST(Settings, ReadSizes) {
    EXPECT_EQ(must_load({}).embedded.reserve, std::nullopt);
    EXPECT_EQ(must_load({}, {{"SLUICE_STORE_RESERVE", "2GiB"}}).embedded.reserve, std::uint64_t{2} << 30U);
    EXPECT_EQ(must_load({}, {{"SLUICE_STORE_RESERVE", "0"}}).embedded.reserve, 0U);
    for (const char* const bad : {"", "-1", "64MB", "1.5GiB", "64 MiB", "99999999GiB"}) {
        EXPECT_THAT(error_of_file("store.reserve: \"" + std::string{bad} + "\"\n"),
                    HasSubstr("is not a size"))
            << bad;
    }
}

// A value for each setting that is not its default; of a store with a password no two prints are alike.
TEST(PrintedSettings, ReadBackAsTheyAreWhateverIsSet) {
    const TempFolder folder;
    const Environment variables{
        {"SLUICE_LISTEN", "[::1]:0"},
        {"SLUICE_DATA", "- #x\ny"},
        {"SLUICE_STORE", "postgres://app@db:5432/x?sslmode=disable"},
        {"SLUICE_REDIS", "redis+sentinel://h1:1,h2:2/master"},
        {"SLUICE_PLANS", "~"},
        {"SLUICE_TOKEN_FILE", "'quoted': [not a list]"},
        {"SLUICE_TLS_CERT", "a b"},
        {"SLUICE_TLS_KEY", "{c}"},
        {"SLUICE_TLS_CLIENT_CA", "*d"},
        {"SLUICE_LOG_LEVEL", "debug"},
        {"SLUICE_LOG_FORMAT", "json"},
        {"SLUICE_SLOTS_DEFAULT_CONFIG", "null"},
        {"SLUICE_SLOTS_CONFIG_CACHE_TTL", "7s"},
        {"SLUICE_SLOTS_BATCH_MAX", "7"},
        {"SLUICE_SLOTS_STRICT", "true"},
        {"SLUICE_SLOTS_MAX_WINDOWS_IN_CHUNK", "7"},
        {"SLUICE_SLOTS_POSTGRES_MODE", "function"},
        {"SLUICE_SLOTS_RETENTION", "P7D"},
        {"SLUICE_STORE_RESERVE", "7MiB"},
        {"SLUICE_STORE_CACHE", "77MiB"},
        {"SLUICE_LIMITS_KEYS_MAX", "7"},
        {"SLUICE_LIMITS_LIST_BYTES_MAX", "7777777"},
        {"SLUICE_LIMITS_DEADLINE", "7ms"},
        {"SLUICE_LIMITS_FAIL_OPEN_TIME", "7m"},
        {"SLUICE_LIMITS_FAIL_OPEN_TOKENS", "7"},
        {"SLUICE_LIMITS_DENY_CACHE", "7s"},
        {"SLUICE_LIMITS_LEASE_TIME", "7s"},
        {"SLUICE_REDIS_TIMEOUT", "7ms"},
        {"SLUICE_REDIS_ALLOW_EVICTION", "true"},
        {"SLUICE_REDIS_TLS_CA", "a: b"},
        {"SLUICE_POSTGRES_POOL_MIN", "7"},
        {"SLUICE_POSTGRES_POOL_MAX", "17"},
        {"SLUICE_POSTGRES_MIGRATE_AT_START", "false"},
        {"SLUICE_KAFKA", "a:7,[::1]:8"},
        {"SLUICE_KAFKA_PUBLISH_TIMEOUT", "7s"},
        {"SLUICE_KAFKA_REPLICATION", "7"},
        {"SLUICE_GATEWAY_SENDER", "false"},
        {"SLUICE_DISPATCH_WEBHOOK_TIMEOUT", "7s"},
        {"SLUICE_DISPATCH_WEBHOOK_ALLOW", "10.0.0.0/8,192.168.0.0/16"},
        {"SLUICE_DISPATCH_WEBHOOK_SECRET_FILES", R"(["a b","c,d"])"},
        {"SLUICE_DISPATCH_ENDPOINTS",
         R"([{"url":"https://a.example/","headers":{"X":"file:/y"},"timeout":"7ms","maxConcurrent":"7"}])"},
    };
    for (const SettingSpec& spec : settings_table()) {
        EXPECT_EQ(variables.contains(spec.variable()), spec.support == Support::Built) << spec.key;
    }
    const auto loaded = load_settings({}, variables);
    ASSERT_TRUE(loaded) << loaded.error();

    const auto again = load_settings({{"config", write_file(folder, print_settings(*loaded))}}, {});

    ASSERT_TRUE(again) << again.error();
    for (std::size_t i = 0; i < loaded->entries.size(); ++i) {
        EXPECT_EQ(again->entries[i].value, loaded->entries[i].value) << loaded->entries[i].spec->key;
        EXPECT_TRUE(again->entries[i].is_set) << loaded->entries[i].spec->key;
    }
}

TEST(PrintedSettings, AreRefusedWhereAPasswordWasMasked) {
    const TempFolder folder;
    const auto loaded = load_settings({{"store", "postgres://app:hunter2@db/x"}}, {});
    ASSERT_TRUE(loaded);
    const std::string file = write_file(folder, print_settings(*loaded));

    EXPECT_THAT(error_of({{"config", file}}),
                AllOf(HasSubstr("sluice.yaml, line "), HasSubstr("store: its password is masked")));
    EXPECT_EQ(error_of({{"config", file}}, {{"SLUICE_STORE", "postgres://app:hunter2@db/x"}}), "no error");
}

TEST(Settings, ReadHowWorkIsDispatched) {
    const TempFolder folder;
    const std::string file = write_file(folder,
                                        "dispatch:\n"
                                        "  webhook:\n"
                                        "    allow: [10.0.0.0/8, fd00::/8]\n"
                                        "    secretFiles: [new.key, old.key]\n"
                                        "  endpoints:\n"
                                        "    - url: https://a.example/pay\n"
                                        "      secretFiles: [a.key]\n"
                                        "      headers: {Authorization: file:a.token, X-Kind: payment}\n"
                                        "      timeout: 3s\n"
                                        "      maxConcurrent: 5\n"
                                        "    - url: https://b.example/\n"
                                        "      proxy: http://proxy:3128\n");

    const Settings::Dispatch dispatch = must_load({{"config", file}}).dispatch;

    EXPECT_EQ(dispatch.webhook_timeout, std::chrono::seconds{15});
    EXPECT_EQ(dispatch.allow, (std::vector<std::string>{"10.0.0.0/8", "fd00::/8"}));
    EXPECT_EQ(dispatch.secret_files, (std::vector<std::string>{"new.key", "old.key"}));
    const EndpointSetting first{.url = "https://a.example/pay",
                                .secret_files = {"a.key"},
                                .headers = {{"Authorization", "file:a.token"}, {"X-Kind", "payment"}},
                                .timeout = std::chrono::seconds{3},
                                .max_concurrent = 5};
    const EndpointSetting second{.url = "https://b.example/", .proxy = "http://proxy:3128"};
    EXPECT_EQ(dispatch.endpoints, (std::vector{first, second}));
}

TEST(Settings, NameTheEndpointThatCannotBeRead) {
    const auto with = [](const std::string& second) {
        return error_of_file("dispatch.endpoints:\n- url: https://a.example/\n- " + second + "\n");
    };

    EXPECT_THAT(with("{secretFiles: [x]}"), HasSubstr("dispatch.endpoints: entry 2 has no url."));
    EXPECT_THAT(with("{url: https://b/, timout: 1s}"),
                HasSubstr("entry 2 has an unknown key 'timout'; the nearest known one is 'timeout'."));
    EXPECT_THAT(with("{url: https://b/, timeout: 11m}"), HasSubstr("entry 2 has a timeout"));
    EXPECT_THAT(with("{url: https://b/, maxConcurrent: 0}"), HasSubstr("entry 2 has a maxConcurrent"));
    EXPECT_THAT(with("{url: https://b/, headers: [x]}"), HasSubstr("entry 2 has headers"));
    EXPECT_THAT(with("{url: https://b/, secretFiles: x}"), HasSubstr("entry 2 has secretFiles"));
    EXPECT_THAT(error_of_file("dispatch.webhook.timeout: 11m\n"), HasSubstr("10 minutes at most"));
}

TEST(PrintedSettings, MaskTheHeadersOfEndpointsAndAreThenRefused) {
    const TempFolder folder;
    const auto loaded = load_settings(
        {},
        {{"SLUICE_DISPATCH_ENDPOINTS", "[{url: https://a.example/, headers: {Authorization: hunter2}}]"}});
    ASSERT_TRUE(loaded) << loaded.error();

    const std::string text = print_settings(*loaded);

    EXPECT_THAT(text, ::testing::Not(HasSubstr("hunter2")));
    EXPECT_THAT(error_of({{"config", write_file(folder, text)}}), HasSubstr("a header is masked"));
}

TEST(Places, AreToldWithoutSecrets) {
    EXPECT_EQ(place_of("postgres://app:hunter2@h1:5432,h2/x?sslmode=disable"), " at h1:5432,h2/x");
    EXPECT_EQ(place_of("postgres://app:p@ss/w@db/x"), " at db/x");
    EXPECT_EQ(place_of("127.0.0.1:6379"), " at 127.0.0.1:6379");
    EXPECT_EQ(place_of("redis+cluster://h1:1,h2:2"), " at h1:1,h2:2");
    EXPECT_EQ(place_of("postgres://db/x?user=a&password=hunt@r2"), "");
    EXPECT_EQ(place_of("postgres://app:hunt?r2@db/x"), "");
}

TEST(PrintedSettings, MaskPasswords) {
    EXPECT_EQ(mask_secret("postgres://app:hunter2@db:5432/x"), "postgres://app:****@db:5432/x");
    EXPECT_EQ(mask_secret("postgres://app:p@ss/w@db/x"), "postgres://app:****@db/x");
    EXPECT_EQ(mask_secret("redis://:hunter2@h:1"), "redis://:****@h:1");
    EXPECT_EQ(mask_secret("postgres://db/x?user=a&password=hunter2&y=1"),
              "postgres://db/x?user=a&password=****&y=1");
    EXPECT_EQ(mask_secret("host=db password=hunter2"), "host=db password=****");
    EXPECT_EQ(mask_secret("redis+sentinel://h1:1,h2:2/master"), "redis+sentinel://h1:1,h2:2/master");
    EXPECT_EQ(mask_secret("embedded"), "embedded");

    SettingsInForce in_force{must_load({}),
                             {{find_setting("store"), "postgres://app:hunter2@db/x", "--store", true}}};
    EXPECT_THAT(print_settings(in_force), HasSubstr("store: \"postgres://app:****@db/x\""));
}

TEST(SettingsTable, DerivesFlagsAndVariablesFromKeys) {
    EXPECT_EQ(find_setting("tokenFile")->flag(), "--token-file");
    EXPECT_EQ(find_setting("tokenFile")->variable(), "SLUICE_TOKEN_FILE");
    EXPECT_EQ(find_setting("tlsClientCa")->flag(), "--tls-client-ca");
    EXPECT_EQ(find_setting("slots.batchMax")->flag(), "");
    EXPECT_EQ(find_setting("slots.batchMax")->variable(), "SLUICE_SLOTS_BATCH_MAX");
    EXPECT_EQ(find_setting("none"), nullptr);
}

TEST(SettingsTable, OffersOnlyChoicesThatAreAccepted) {
    for (const SettingSpec& spec : settings_table()) {
        for (const std::string_view choice : spec.choices) {
            if (!choice.empty()) {
                EXPECT_EQ(error_of({}, {{spec.variable(), std::string{choice}}}), "no error") << choice;
            }
        }
    }
}

TEST(Nearest, CountsLettersAddedDroppedReplacedOrSwapped) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("listen", "LISTEN"), 0U);
    EXPECT_EQ(edit_distance("lsiten", "listen"), 1U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
    EXPECT_EQ(nearest_of("gte", std::vector<std::string>{"cancel", "get", "move"}), "get");
    EXPECT_EQ(nearest_of("x", {}), "");
    EXPECT_EQ(near_of("gte", std::vector<std::string>{"cancel", "get", "move"}), "get");
    EXPECT_EQ(near_of("frobnicate", std::vector<std::string>{"cancel", "get", "move"}), "");
    EXPECT_EQ(near_of("x", {}), "");
}

}  // namespace
}  // namespace sluice
