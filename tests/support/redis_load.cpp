#include "support/redis_load.hpp"

#include <algorithm>
#include <iostream>
#include <thread>

namespace sluice::test {
namespace {

constexpr std::size_t kBatch = 8;
// While nobody answers, sentinels need the processors: one that is late by two seconds does nothing for
// thirty.
constexpr int kRestsMost = 50;

}  // namespace

Load::Load(Work work) : work_{std::move(work)}, clients_(static_cast<std::size_t>(work_.clients)) {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        threads_.emplace_back([this, i](const std::stop_token& stop) {
            ask(stop, *work_.stores[i % work_.stores.size()], clients_[i]);
        });
    }
}

void Load::ask(const std::stop_token& stop, LimitStore& store, Client& client) {
    std::vector<Check> checks(kBatch);
    for (std::size_t i = 0; i < kBatch; ++i) {
        checks[i] = {work_.keys[i % work_.keys.size()], work_.plans[i % work_.plans.size()], 1};
    }
    std::vector<CheckOutcome> outcomes(kBatch, Verdict{});
    while (!stop.stop_requested()) {
        store.take(checks, outcomes);
        for (const CheckOutcome& outcome : outcomes) {
            ++(!outcome ? faults_ : outcome->allowed ? admitted_ : denied_);
        }
        if (std::none_of(outcomes.begin(), outcomes.end(),
                         [](const auto& each) { return each.has_value(); })) {
            std::this_thread::sleep_for(std::min<int>(++client.faulty_batches, kRestsMost) * 1ms);
        } else {
            client.faulty_batches = 0;
        }
    }
}

Counts Load::so_far() const { return {admitted_, denied_, faults_}; }

void Load::await(const std::function<bool(const Counts&)>& reached) const {
    test::await([&] { return reached(so_far()); });
}

void Load::await_faults_of_all(int batches) const {
    std::vector<int> before;
    for (const Client& client : clients_) {
        before.push_back(client.faulty_batches);
    }
    test::await([&] {
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            if (clients_[i].faulty_batches < before[i] + batches) {
                return false;
            }
        }
        return true;
    });
}

Counts Load::stop() {
    threads_.clear();
    return so_far();
}

Tokens lost_by_failover(const std::vector<LimitStore*>& stores, const std::string& key,
                        const std::function<void()>& kill) {
    const Load::Work work{stores, 16, {key}, {kBoth}};
    Load through{work};
    through.await([](const Counts& counts) { return counts.admitted >= 2'000; });
    kill();
    through.await_faults_of_all(1);
    const Tokens before = through.so_far().admitted;
    through.await([&](const Counts& counts) { return counts.admitted > before; });
    const Counts counts = through.stop();

    const Tokens left = take_at_last(*stores[0], key, kHotOnly, 0)->remaining;
    const Tokens left_beside = take_at_last(*stores[0], key, std::array{&kBeside}, 0)->remaining;
    EXPECT_EQ(20'000 - left, 1'000'000 - left_beside)
        << "a check is there with all of its plans, or not at all";
    // What had no answer may have been charged all the same.
    const Tokens lost = std::max<Tokens>(0, counts.admitted - (20'000 - left));
    std::cout << "a failover lost " << lost << " of " << before << " charges; " << counts.faults
              << " checks had no answer\n";
    EXPECT_LE(lost, before);

    Load after{work};
    after.await([](const Counts& now) { return now.denied > 0; });
    const Counts rest = after.stop();
    EXPECT_LE(rest.admitted, left);
    EXPECT_GE(rest.admitted + rest.faults, left);
    return lost;
}

}  // namespace sluice::test
