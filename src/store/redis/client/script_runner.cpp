#include "store/redis/client/script_runner.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <thread>
#include <vector>

#include "store/redis/client/refusal.hpp"

namespace sluice::redis {
namespace {

using Clock = std::chrono::steady_clock;

// A slot that moves may take a few turns. Mostly the time-out comes first.
constexpr int kRoundsMax = 64;
// Once is enough, unless somebody makes the server forget it again in the same moment.
constexpr int kLoadsMax = 16;
constexpr std::chrono::milliseconds kPause{2};
constexpr std::chrono::milliseconds kPauseMost{20};

// Where a call goes next, and how.
struct Errand {
    ScriptCall* call;
    std::shared_ptr<ConnectionPool> asking{};  // Set: the server that has the moving key already.
    int loads = 0;                             // How often the script was loaded for it.
};

// What goes to one server in one round.
struct Parcel {
    std::shared_ptr<ConnectionPool> pool{};
    std::vector<Errand> errands{};
    bool load = false;  // The server does not know the script.
    std::unique_ptr<Connection> connection{};
    bool answered = false;  // At least one of the replies is more than a refusal.
    std::string refusal{};  // The last one, in the server's own words.

    Parcel() = default;
    Parcel(const Parcel&) = delete;
    Parcel& operator=(const Parcel&) = delete;
    // A connection that is still here has replies under way: want of memory ended the run.
    ~Parcel() {
        if (connection) {
            drop_connection();
        }
    }

    // The pool's server may be whatever is the master.
    [[nodiscard]] std::string speaker() const { return "Redis at " + connection->endpoint().text(); }

    void note(const Reply& reply) {
        if (refuses_work(reply)) {
            refusal = reply.text();
        } else {
            answered = true;
        }
    }

    void drop_connection() {
        connection.reset();
        pool->give_back(nullptr);
    }
};

// `MOVED 3999 127.0.0.1:6381`: the last word. An empty host is the one that said so.
std::optional<Endpoint> endpoint_in(std::string_view text, const Endpoint& speaker) {
    const std::string_view word = text.substr(text.rfind(' ') + 1);
    const std::size_t colon = word.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    Endpoint endpoint{std::string{word.substr(0, colon)}, 0};
    if (endpoint.host.empty()) {
        endpoint.host = speaker.host;
    }
    const std::string_view port = word.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    return error == std::errc{} ? std::optional{endpoint} : std::nullopt;
}

bool is_not_ready(const Reply& reply) {
    return reply.is_error("TRYAGAIN") || reply.is_error("CLUSTERDOWN") || reply.is_error("LOADING") ||
           reply.is_error("MASTERDOWN");
}

// The rounds of one run.
class Run {
public:
    Run(Routes& routes, const Script& script, Deadline deadline)
        : routes_{routes}, script_{script}, deadline_{deadline} {}

    void round(std::vector<Errand> errands) {
        pause_ = false;
        again_.clear();
        parcels_.clear();
        for (Errand& errand : errands) {
            pack(std::move(errand));
        }
        // Always in the order of their addresses: two runs never wait for each other's connections.
        for (auto& [address, parcel] : parcels_) {
            parcel.connection = parcel.pool->take(deadline_);
            if (!parcel.connection) {
                parcel.pool->watch().failed(parcel.pool->why_none_is_free());
                routes_.missed();
            }
        }
        for (auto& [address, parcel] : parcels_) {
            send(parcel);
        }
        for (auto& [address, parcel] : parcels_) {
            receive(parcel);
        }
    }

    std::vector<Errand> take_again() { return std::move(again_); }
    [[nodiscard]] bool pause() const { return pause_; }

private:
    void pack(Errand errand) {
        auto pool = errand.asking ? errand.asking : routes_.to(errand.call->slot);
        if (!pool) {  // Nothing was sent: a new map may help.
            retry(std::move(errand));
            return;
        }
        Parcel& parcel = parcels_[pool.get()];
        parcel.pool = std::move(pool);
        parcel.load = parcel.load || errand.loads > 0;
        parcel.errands.push_back(std::move(errand));
    }

    void send(Parcel& parcel) {
        if (!parcel.connection) {
            return;
        }
        std::string bytes;
        if (parcel.load) {
            append_command(bytes, std::vector<std::string>{"SCRIPT", "LOAD", script_.text()});
        }
        for (const Errand& errand : parcel.errands) {
            if (errand.asking) {
                append_command(bytes, std::vector<std::string>{"ASKING"});
            }
            bytes.append(errand.call->command);
        }
        if (!parcel.connection->send(bytes, deadline_)) {
            lose_silent(parcel);
        }
    }

    void receive(Parcel& parcel) {
        if (!parcel.connection) {
            return;
        }
        bool there = !parcel.load || parcel.connection->receive(deadline_);
        for (Errand& errand : parcel.errands) {
            there = there && (!errand.asking || parcel.connection->receive(deadline_));
            auto reply = there ? parcel.connection->receive(deadline_) : std::nullopt;
            there = reply.has_value();
            if (!there) {
                lose_silent(parcel);
                return;
            }
            parcel.note(*reply);
            sort(parcel, std::move(errand), std::move(*reply));
        }
        if (parcel.answered) {
            parcel.pool->watch().answered();
        } else {
            parcel.pool->watch().failed(parcel.speaker() + " says " + parcel.refusal);
        }
        if (demoted_) {
            demoted_ = false;
            lose(parcel);
            return;
        }
        parcel.pool->give_back(std::move(parcel.connection));
    }

    // Decides what becomes of a reply: an answer, or another round.
    void sort(const Parcel& parcel, Errand errand, Reply reply) {
        if (reply.is_error("NOSCRIPT") && errand.loads < kLoadsMax) {
            ++errand.loads;
            again_.push_back(std::move(errand));
        } else if (reply.is_error("MOVED") && routes_.splits()) {
            follow(parcel, std::move(errand), reply.text());
        } else if (reply.is_error("ASK") && routes_.splits()) {
            const auto there = endpoint_in(reply.text(), parcel.connection->endpoint());
            errand.asking = there ? routes_.at(*there) : nullptr;
            again_.push_back(std::move(errand));
        } else if (reply.is_error("READONLY")) {
            demoted_ = true;
            retry(std::move(errand));
        } else if (is_not_ready(reply)) {
            retry(std::move(errand));
        } else {
            errand.call->reply = std::move(reply);
        }
    }

    void follow(const Parcel& parcel, Errand errand, std::string_view text) {
        if (const auto there = endpoint_in(text, parcel.connection->endpoint())) {
            routes_.moved(errand.call->slot, *there);
        }
        errand.asking = nullptr;
        errand.loads = 0;  // It may be another server.
        again_.push_back(std::move(errand));
    }

    void retry(Errand errand) {
        pause_ = true;
        errand.asking = nullptr;
        again_.push_back(std::move(errand));
    }

    void lose_silent(Parcel& parcel) {
        parcel.pool->watch().failed(parcel.speaker() + " " + parcel.connection->trouble());
        lose(parcel);
    }

    void lose(Parcel& parcel) {
        parcel.drop_connection();
        routes_.lost(*parcel.pool);
    }

    Routes& routes_;
    const Script& script_;
    const Deadline deadline_;
    std::map<ConnectionPool*, Parcel> parcels_;
    std::vector<Errand> again_;
    bool pause_ = false;    // Before the next round: somebody was not ready.
    bool demoted_ = false;  // The server at hand is no master any more.
};

}  // namespace

void ScriptRunner::run(std::span<ScriptCall> calls) {
    const Deadline deadline = Clock::now() + timeout_;
    std::vector<Errand> errands;
    errands.reserve(calls.size());
    for (ScriptCall& call : calls) {
        errands.push_back({&call});
    }
    Run run{routes_, script_, deadline};
    for (int round = 0; round < kRoundsMax && !errands.empty() && Clock::now() < deadline; ++round) {
        run.round(std::move(errands));
        errands = run.take_again();
        if (run.pause() && !errands.empty()) {
            const auto pause = std::min(kPause * (round + 1), kPauseMost);
            std::this_thread::sleep_until(std::min(deadline, Clock::now() + pause));
        }
    }
}

}  // namespace sluice::redis
