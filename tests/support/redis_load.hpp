#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "support/limit_words.hpp"
#include "support/redis_fixture.hpp"

namespace sluice::test {

using Plans = std::span<const Plan* const>;

// Nothing of them comes back while a test runs.
inline const Plan kHot = plan("hot", bucket(20'000, 1, 1h));
inline const Plan kBeside = plan("beside", from_first_hit(1'000'000, 24h));
inline const std::array kHotOnly{&kHot};
inline const std::array<const Plan*, 2> kBoth{&kBeside, &kHot};

// What clients were told.
struct Counts {
    Tokens admitted = 0;
    Tokens denied = 0;
    Tokens faults = 0;
};

// Clients who ask for one token after the other, in batches of eight, until they are stopped. After a fault
// they rest for a millisecond, and for one more after each further one in a row.
class Load {
public:
    struct Work {
        std::vector<LimitStore*> stores;  // The clients share them out.
        int clients = 4;
        std::vector<std::string> keys{"k"};                   // The checks of a batch take these by turns,
        std::vector<Plans> plans{kHotOnly, kHotOnly, kBoth};  // and these.
    };
    explicit Load(Work work);

    [[nodiscard]] Counts so_far() const;
    // Waits for it; throws after two minutes.
    void await(const std::function<bool(const Counts&)>& reached) const;
    // Waits until every client has had that many batches of nothing but faults since this call began.
    void await_faults_of_all(int batches) const;
    Counts stop();

private:
    struct Client {
        std::atomic<int> faulty_batches{0};  // In a row.
    };

    void ask(const std::stop_token& stop, LimitStore& store, Client& client);

    const Work work_;
    std::atomic<Tokens> admitted_{0};
    std::atomic<Tokens> denied_{0};
    std::atomic<Tokens> faults_{0};
    std::vector<Client> clients_;
    std::vector<std::jthread> threads_;
};

// Clients of all stores ask for the key while `kill` ends its master, until whoever took over answers them;
// then until nothing is left. No more is admitted than there is and what the failover has lost, and what is
// left counts whole checks. Says how many charges were lost, and prints it.
Tokens lost_by_failover(const std::vector<LimitStore*>& stores, const std::string& key,
                        const std::function<void()>& kill);

}  // namespace sluice::test
