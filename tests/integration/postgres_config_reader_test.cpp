#include <future>

#include "store/postgres/slots/config_reader.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/postgres_fixture.hpp"
#include "support/recording_log.hpp"
#include "support/tcp_proxy.hpp"

namespace sluice::postgres {
namespace {

using std::chrono::seconds;

class NoWaits final : public PoolMetrics {
public:
    void waited(std::chrono::nanoseconds /*duration*/) override {}
};

// A reader of two configs, `known` and `other`, with a server that can be made silent.
class ConfigReaderTest : public test::PostgresTest {
protected:
    ConfigReaderTest() : PostgresTest{test::Furnished::WithSlots} {}

    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) {
            return;
        }
        const auto connection = connect();
        for (const char* name : {"known", "other"}) {
            test::ask(*connection, std::string{"select sluice.put_config('"} + name +
                                       "', 2, 4000, 'PT4S', '" + name + "', null, 100, now())::text");
        }
        proxy_ = std::make_unique<test::TcpProxy>(test::port_of(dsn()));
        PoolSettings settings;
        settings.connect = test::test_settings(test::with_port(dsn(), proxy_->port()));
        settings.min = 1;
        settings.max = 2;
        pool_ = std::make_unique<ConnectionPool>(settings, log_, waits_);
        ASSERT_TRUE(pool_->take(ConnectionPool::Clock::now() + seconds{20}));  // It is connected.
        reader_ = std::make_unique<ConfigReader>(*pool_, ConfigCache{seconds{5}, clock_, metrics_, log_});
    }

    [[nodiscard]] bool finds(const ConfigName& name) const {
        const auto found = reader_->active(name);
        return found && *found != nullptr && (*found)->terms.name == name;
    }

    // Asks for it while the server is silent, and returns when the question is under way.
    std::future<bool> ask_in_vain(const ConfigName& name) {
        proxy_->freeze();
        auto asked = std::async(std::launch::async, [this, name] { return finds(name); });
        while (pool_->figures().in_use == 0) {
            std::this_thread::yield();
        }
        return asked;
    }

    const ConfigName known_ = *ConfigName::make("known");
    const ConfigName other_ = *ConfigName::make("other");
    test::HandClock clock_{Instant{seconds{1'900'000'000}}};
    test::CountingMetrics metrics_;
    test::RecordingLog log_;
    NoWaits waits_;
    std::unique_ptr<test::TcpProxy> proxy_;
    std::unique_ptr<ConnectionPool> pool_;
    std::unique_ptr<ConfigReader> reader_;
};

TEST_F(ConfigReaderTest, AnswersWhatIsKnownWhileTheServerIsSilentAboutAnother) {
    ASSERT_TRUE(finds(known_));
    auto other = ask_in_vain(other_);

    auto known = std::async(std::launch::async, [this] { return finds(known_); });
    const auto waited = known.wait_for(seconds{1});
    proxy_->thaw();

    EXPECT_EQ(waited, std::future_status::ready);
    EXPECT_TRUE(known.get());
    EXPECT_TRUE(other.get());
}

TEST_F(ConfigReaderTest, DoesNotKeepWhatWasAskedForBeforeANewerVersionWasHeardOf) {
    auto other = ask_in_vain(other_);
    reader_->heed_version(other_, ConfigId{1'000});
    proxy_->thaw();
    ASSERT_TRUE(other.get());

    EXPECT_TRUE(finds(other_));

    EXPECT_EQ(metrics_.misses, 2U);
}

TEST_F(ConfigReaderTest, KeepsWhatWasAskedForWhileNewsOfTheSameVersionCame) {
    auto other = ask_in_vain(other_);
    reader_->heed_version(other_, ConfigId{1});
    reader_->heed_version(known_, ConfigId{1'000});
    proxy_->thaw();
    ASSERT_TRUE(other.get());

    EXPECT_TRUE(finds(other_));

    EXPECT_EQ(metrics_.misses, 1U);
    EXPECT_EQ(metrics_.hits, 1U);
}

TEST_F(ConfigReaderTest, DoesNotKeepWhatWasAskedForBeforeAFlush) {
    auto other = ask_in_vain(other_);
    reader_->flush();
    proxy_->thaw();
    ASSERT_TRUE(other.get());

    EXPECT_TRUE(finds(other_));

    EXPECT_EQ(metrics_.misses, 2U);
    EXPECT_EQ(metrics_.hits, 0U);
}

}  // namespace
}  // namespace sluice::postgres
