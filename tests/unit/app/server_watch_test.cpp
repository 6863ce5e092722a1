#include "app/server_watch.hpp"

#include <atomic>
#include <latch>
#include <thread>

#include <gmock/gmock.h>

#include "app/limits/limit_servers.hpp"
#include "support/counting_limit_metrics.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

const std::string kDown = "WARN LimitService - no words; plans answer its checks by their on_store_failure";
const std::string kUp = "INFO LimitService - the server answers again";

// A watch over a server that does as the test says, and what operators hear of it.
class ServerWatchTest : public ::testing::Test {
protected:
    std::unique_ptr<ServerWatch> watch(std::chrono::milliseconds patience) {
        return std::make_unique<ServerWatch>(
            ServerWatchSettings{"the server", patience, *runtime_, &servers_}, [this] {
                ++probes_;
                return well_ ? std::nullopt : std::optional<std::string>{"no words"};
            });
    }
    static void await(const std::function<bool()>& reached) {
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        while (!reached()) {
            ASSERT_LT(std::chrono::steady_clock::now(), deadline);
            std::this_thread::sleep_for(1ms);  // Between two looks.
        }
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    std::atomic<bool> well_ = true;
    std::atomic<int> probes_ = 0;
    RecordingLog log_;
    CountingLimitMetrics metrics_;
    LimitServers servers_{log_, metrics_};
};

TEST_F(ServerWatchTest, AsksNothingWhileAllIsWell) {
    const auto watched = watch(1ms);

    for (int i = 0; i < 1'000; ++i) {
        watched->answered();
    }

    EXPECT_TRUE(watched->calm());
    EXPECT_EQ(probes_, 0);
}

// However often the same question fails: the cause lies in the question.
TEST_F(ServerWatchTest, IsNotMovedByFailuresWhileTheServerAnswersItself) {
    const auto watched = watch(20s);

    for (int i = 0; i < 10; ++i) {
        watched->failed("a key that cannot be read");
        await([&] { return watched->calm(); });
    }

    EXPECT_FALSE(watched->down());
    EXPECT_GE(probes_, 1);
    EXPECT_THAT(log_.lines(), ElementsAre());
}

TEST_F(ServerWatchTest, IsDownAfterThreeProbesAndUpAfterOneWithoutAnyCall) {
    const auto watched = watch(1h);
    well_ = false;

    watched->failed("something");
    await([&] { return watched->down(); });
    EXPECT_EQ(probes_, 3);
    EXPECT_FALSE(servers_.all_answer());
    EXPECT_EQ(metrics_.count(ServerState::Down), 1U);
    watched->answered();
    EXPECT_TRUE(watched->down()) << "what was under way proves nothing";
    well_ = true;
    await([&] { return !watched->down(); });

    EXPECT_TRUE(servers_.all_answer());
    EXPECT_EQ(metrics_.count(ServerState::Answers), 1U);
    EXPECT_THAT(log_.lines(), ElementsAre(kDown, kUp));
}

TEST_F(ServerWatchTest, IsDownWhenNothingIsHeardForThreePatiences) {
    std::latch gate{1};
    ServerWatch watched{{"the server", 100ms, *runtime_, &servers_}, [&]() -> std::optional<std::string> {
                            gate.wait();
                            return std::nullopt;
                        }};
    const auto began = std::chrono::steady_clock::now();

    await([&] {
        watched.failed("no words");
        return watched.down();
    });

    EXPECT_GE(std::chrono::steady_clock::now() - began, 300ms);
    gate.count_down();
    await([&] { return !watched.down(); });
    EXPECT_THAT(log_.lines(), ElementsAre(kDown, kUp));
}

TEST_F(ServerWatchTest, ForgetsASuspicionWhenACallIsAnswered) {
    std::latch gate{1};
    ServerWatch watched{{"the server", 1ms, *runtime_, &servers_}, [&]() -> std::optional<std::string> {
                            gate.wait();
                            return "no words";
                        }};

    for (int i = 0; i < 20; ++i) {
        watched.failed("no words");
        watched.answered();
        std::this_thread::sleep_for(1ms);  // Longer than three patiences altogether.
    }

    EXPECT_TRUE(watched.calm());
    gate.count_down();
    EXPECT_THAT(log_.lines(), ElementsAre());
}

TEST_F(ServerWatchTest, TellsOfAServerThatIsNotAskedAnyMore) {
    auto watched = watch(1ms);
    well_ = false;
    watched->failed("no words");
    await([&] { return watched->down(); });

    watched.reset();

    EXPECT_TRUE(servers_.all_answer());
    EXPECT_THAT(log_.lines(), ElementsAre(kDown, "INFO LimitService - the server is not asked any more"));
}

}  // namespace
}  // namespace sluice::test
