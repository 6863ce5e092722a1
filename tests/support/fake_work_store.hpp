#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "app/dispatch/work_store.hpp"

namespace sluice::test {

// A store of works for whoever asks on behalf of operators: keeps terms and remembers what it was asked. It
// dispatches nothing.
// Thread safety: its functions. Members are for the test, while nobody asks.
class FakeWorkStore final : public WorkStore {
public:
    bool fails = false;
    bool keeps = true;  // Nobody else is the keeper of its gates.
    DispatchTerms kept;
    std::vector<LaneCount> lane_counts;
    WorkPage page;
    std::map<std::string, WorkStory> stories;
    std::uint64_t dead = 0;  // How many a replay finds.

    std::vector<std::string> deeds;  // "hold 3 pay.example by 127.0.0.1"
    WorkFilter filter;
    ReplayRequest replayed;
    std::vector<std::string> lent;  // Permits that are out.

    [[nodiscard]] bool is_shared() const override { return false; }
    Result<Taken, StoreError> take(const Lane&, std::size_t, const Judge&) override { return Taken{}; }
    Result<void, StoreError> settle(std::span<const Settlement>) override { return {}; }
    Result<std::vector<Lane>, StoreError> lanes() override { return std::vector<Lane>{}; }
    Result<std::vector<OpenClaim>, StoreError> open_claims() override { return std::vector<OpenClaim>{}; }

    Result<std::optional<Keeping>, StoreError> keep(const std::string&) override {
        return keeps ? std::optional{Keeping{.fence = 1, .lasts = Duration::max()}} : std::nullopt;
    }
    void let_go(Fence) override {}
    Result<bool, StoreError> note_permits(Fence, std::span<const OutsidePermit> permits) override {
        const std::lock_guard lock{mutex_};
        for (const OutsidePermit& permit : permits) {
            lent.push_back(permit.id);
        }
        return true;
    }
    Result<void, StoreError> drop_permits(std::span<const std::string> ids) override {
        const std::lock_guard lock{mutex_};
        for (const std::string& id : ids) {
            std::erase(lent, id);
        }
        return {};
    }
    Result<std::vector<OutsidePermit>, StoreError> outside_permits() override {
        return std::vector<OutsidePermit>{};
    }

    Result<TermsRef, StoreError> terms() override {
        const std::lock_guard lock{mutex_};
        if (fails) {
            return Unexpected{failure()};
        }
        return std::make_shared<const DispatchTerms>(kept);
    }
    Result<void, StoreError> hold(const Subject& subject, const Hold& hold) override {
        return note("hold", subject, hold.by, [&] { kept.holds.emplace(subject, hold); });
    }
    Result<void, StoreError> release(const Subject& subject, const std::string& by) override {
        return note("release", subject, by, [&] { kept.holds.erase(subject); });
    }
    Result<void, StoreError> put_rate(const Subject& subject, std::optional<GateTerms> rate,
                                      const std::string& by) override {
        return note("rate", subject, by, [&] {
            kept.gates.erase(subject);
            if (rate) {
                kept.gates.emplace(subject, *rate);
            }
        });
    }
    Result<std::optional<WorkStory>, StoreError> find(const EventId& event_id) override {
        const std::lock_guard lock{mutex_};
        const auto found = stories.find(event_id.text());
        return found == stories.end() ? std::optional<WorkStory>{} : std::optional{found->second};
    }
    Result<WorkPage, StoreError> list(const WorkFilter& wanted) override {
        const std::lock_guard lock{mutex_};
        filter = wanted;
        return fails ? Result<WorkPage, StoreError>{Unexpected{failure()}} : page;
    }
    Result<std::uint64_t, StoreError> replay(const ReplayRequest& request, const std::string& by) override {
        const std::lock_guard lock{mutex_};
        if (fails) {
            return Unexpected{failure()};
        }
        replayed = request;
        deeds.push_back("replay by " + by);
        return dead;
    }
    Result<std::vector<LaneCount>, StoreError> counts() override {
        const std::lock_guard lock{mutex_};
        return lane_counts;
    }
    void on_news(std::function<void(const WorkTidings&)>) override {}

private:
    static StoreError failure() { return {"the disk is gone"}; }

    template <class Change>
    Result<void, StoreError> note(const std::string& deed, const Subject& subject, const std::string& by,
                                  Change change) {
        const std::lock_guard lock{mutex_};
        if (fails) {
            return Unexpected{failure()};
        }
        change();
        deeds.push_back(deed + " " + std::to_string(static_cast<int>(subject.kind)) + " " + subject.name +
                        " by " + by);
        return {};
    }

    std::mutex mutex_;
};

}  // namespace sluice::test
