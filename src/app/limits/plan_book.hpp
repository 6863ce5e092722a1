#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/limits/plan.hpp"

namespace sluice {

enum class PlanOrigin : std::uint8_t { File, Admin };

// A plan in force, with how it was written.
struct BookedPlan {
    Plan plan;
    PlanDraft draft;
    PlanOrigin origin;
    std::uint32_t number;  // The name's own, for good; counted from 0 in the order names became known.
    std::optional<Wait>
        window;  // How long the limit is for; a bucket's time to fill. None for months, leases.
};

// The plans that are in force together.
// Thread safety: immutable.
class PlanSet {
public:
    // Null when there is none of that name.
    [[nodiscard]] const BookedPlan* find(std::string_view name) const;
    // Ordered by name.
    [[nodiscard]] const std::vector<std::shared_ptr<const BookedPlan>>& all() const { return plans_; }
    // One more with every change of the plans.
    [[nodiscard]] std::uint64_t version() const { return version_; }
    // Why the plans file was not taken when it was read last. Empty: it was, or there is none.
    [[nodiscard]] const std::string& file_error() const { return file_error_; }

private:
    friend class PlanBook;

    std::vector<std::shared_ptr<const BookedPlan>> plans_;
    std::uint64_t version_ = 0;
    std::string file_error_;
};

// The named plans. A change makes a new set and swaps it in whole: a check sees the plans before or after it,
// never a mixture. Plans of the file and of administrators stand beside each other; for a name that both
// have, whoever spoke last counts. Nothing is written down here: see SharedPlans.
// Thread safety: all of it.
class PlanBook {
public:
    static constexpr std::size_t kPlansMax = 1'000;
    // Names that may become known over time; stores remember each.
    static constexpr std::size_t kNamesMax = 4'096;

    [[nodiscard]] std::shared_ptr<const PlanSet> current() const;

    // Takes the plans of a file in place of those of the file before. Administrators' plans of other names
    // stay. On failure, which says what is wrong with which plan, the plans stay as they are.
    Result<void, PlanError> load(const std::vector<PlanDraft>& drafts);

    // Remembers that the file could not be taken, for whoever looks. The plans stay.
    void refuse_file(std::string why);

    // Adds a plan, or takes the place of the one of that name. On failure nothing changes.
    Result<std::shared_ptr<const BookedPlan>, PlanError> put(const PlanDraft& draft);

    // Makes these the administrators' plans, all at once; names that the file has are left to it. Says what
    // is wrong with those that cannot be. Nothing changes where they are the same already.
    std::vector<PlanError> adopt(const std::vector<PlanDraft>& drafts);

    // False: there was none.
    bool remove(std::string_view name);

private:
    using Booked = std::shared_ptr<const BookedPlan>;

    // Both: REQUIRES: changes_ is held.
    Result<Booked, PlanError> book(const PlanDraft& draft, PlanOrigin origin);
    void swap_in(std::vector<Booked> plans, std::string file_error);

    std::mutex changes_;  // Held while the next set is made, so that changes come one after the other.
    std::map<std::string, std::uint32_t, std::less<>> numbers_;  // Guarded by changes_.
    mutable std::mutex mutex_;
    std::shared_ptr<const PlanSet> current_ = std::make_shared<PlanSet>();  // Guarded by mutex_.
};

}  // namespace sluice
