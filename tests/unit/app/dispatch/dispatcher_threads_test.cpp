// The dispatcher on the clock and the threads of this machine.
#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "app/dispatch/dispatcher.hpp"
#include "support/naive_work_store.hpp"
#include "support/recording_log.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

class NoMetrics final : public DispatchMetrics {
public:
    void began(TargetKind /*target*/, Duration /*lateness*/) override {}
    void sent(TargetKind /*target*/) override {}
    void retried(TargetKind /*target*/) override {}
    void died(TargetKind /*target*/) override {}
    void lost(TargetKind /*target*/) override {}
    void store_failed() override {}
    void became_keeper() override {}
    void lost_keeper() override {}
};

// Makes calls on workers; each may be kept until it is let go.
class ThreadedCarrier final : public Carrier {
public:
    explicit ThreadedCarrier(Runtime& runtime) : workers_{runtime.hire(3)} {}

    [[nodiscard]] Result<Route, TargetFault> route(const Target& /*target*/) const override {
        return Route{};
    }
    [[nodiscard]] CallTerms terms(const Target& /*target*/) const override { return {}; }

    void send(Parcel /*parcel*/, MayWrite may_write, Done done) override {
        struct Call {
            MayWrite may_write;
            Done done;
        };
        const auto call = std::make_shared<Call>(Call{std::move(may_write), std::move(done)});
        workers_->post([this, call] {
            const bool wrote = call->may_write();
            began_ += wrote ? 1 : 0;
            began_.notify_all();
            kept_.wait(true);
            call->done({.kind = wrote ? Delivery::Kind::Done : Delivery::Kind::NotSent});
        });
    }
    void stop() override { workers_->finish(); }

    void keep() { kept_ = true; }
    void let_go() {
        kept_ = false;
        kept_.notify_all();
    }
    void await_begun(int count) {
        for (int seen = began_.load(); seen < count; seen = began_.load()) {
            began_.wait(seen);
        }
    }

private:
    std::atomic<bool> kept_ = false;
    std::atomic<int> began_ = 0;
    const std::unique_ptr<Workers> workers_;
};

class DispatcherThreads : public testing::Test {
protected:
    DispatcherThreads() {
        auto carrier = std::make_unique<ThreadedCarrier>(*runtime_);
        carrier_ = carrier.get();
        carriers_.add(TargetKind::Webhook, std::move(carrier));
    }
    ~DispatcherThreads() override { carriers_.stop(); }

    std::unique_ptr<Dispatcher> make(std::chrono::milliseconds patience = 10s) {
        return std::make_unique<Dispatcher>(
            DispatcherOptions{.node = "node", .patience = patience},
            DispatcherWorld{store_, clock_, carriers_, metrics_, log_, *runtime_});
    }
    void add(const std::string& event_id) {
        store_.add({event_id, clock_.now(), "pool", "config", {"h", "e"}});
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    SystemClock clock_;
    NaiveWorkStore store_{clock_, {}};
    Carriers carriers_;
    ThreadedCarrier* carrier_ = nullptr;
    NoMetrics metrics_;
    RecordingLog log_;
};

TEST_F(DispatcherThreads, SendEverythingThatManyBringAtOnce) {
    constexpr int kThreads = 4;
    constexpr int kEach = 100;
    const auto dispatcher = make();

    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([this, thread] {
            for (int i = 0; i < kEach; ++i) {
                add(std::to_string(thread) + "-" + std::to_string(i));
            }
        });
    }
    threads.clear();
    carrier_->await_begun(kThreads * kEach);
    (void)dispatcher->figures();
    dispatcher->stop();

    EXPECT_EQ(store_.in_state(WorkState::Sent), static_cast<std::size_t>(kThreads) * kEach);
}

TEST_F(DispatcherThreads, WaitForCallsThatAreUnderWayAtTheEnd) {
    carrier_->keep();
    const auto dispatcher = make();
    add("a");
    carrier_->await_begun(1);

    std::jthread stops{[&] { dispatcher->stop(); }};
    carrier_->let_go();
    stops.join();

    EXPECT_EQ(store_.work("a").state, WorkState::Sent);
}

TEST_F(DispatcherThreads, DoNotWaitForThemForEver) {
    carrier_->keep();
    auto dispatcher = make(1ms);
    add("a");
    carrier_->await_begun(1);

    dispatcher->stop();
    dispatcher.reset();
    carrier_->let_go();

    EXPECT_EQ(store_.work("a").state, WorkState::Claimed);
}

}  // namespace
}  // namespace sluice::test
