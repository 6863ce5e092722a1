#include "store/memory/limit_table.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace sluice {
namespace {

void begin_state(LimitEntry& entry, const LimitRule& rule) {
    entry.kind = static_cast<std::uint8_t>(rule.index() + 1);
    std::visit([&](const auto& each) { StateIn<std::remove_cvref_t<decltype(each)>>::begin(entry, each); },
               rule);
}

// Ends the state of whichever rule the entry is of.
template <std::size_t... Indexes>
void end_state(LimitEntry& entry, std::index_sequence<Indexes...> /*all*/) {
    ((entry.kind == Indexes + 1 ? StateIn<std::variant_alternative_t<Indexes, LimitRule>>::end(entry)
                                : void()),
     ...);
}
void end_state(LimitEntry& entry) {
    end_state(entry, std::make_index_sequence<std::variant_size_v<LimitRule>>{});
}

template <std::size_t... Indexes>
std::size_t heap_bytes(const LimitEntry& entry, std::index_sequence<Indexes...> /*all*/) {
    return ((entry.kind == Indexes + 1
                 ? StateIn<std::variant_alternative_t<Indexes, LimitRule>>::heap_bytes(entry)
                 : 0) +
            ...);
}

void end_entry(LimitEntry& entry) {
    end_state(entry);
    if (entry.key().size() > LimitEntry::kShortKeyMax) {
        delete[] entry.long_key;
    }
}

}  // namespace

LimitTable::~LimitTable() {
    for (LimitEntry& entry : entries_) {
        if (!entry.is_free()) {
            end_entry(entry);
        }
    }
}

LimitEntry& LimitTable::add(const EntryName& name, const LimitRule& rule) {
    std::size_t at = home(name.hash);
    while (!entries_[at].is_free()) {
        at = next(at);
    }
    // Made apart and put in place at last: there may be no memory for a part of it.
    LimitEntry made{};
    made.hash = name.hash;
    made.plan = name.plan;
    made.last = static_cast<std::uint8_t>(name.key.size() - 1);
    if (name.key.size() <= LimitEntry::kShortKeyMax) {
        std::copy(name.key.begin(), name.key.end(), made.short_key.begin());
        begin_state(made, rule);
    } else {
        auto bytes = std::make_unique<char[]>(name.key.size());  // NOLINT(modernize-avoid-c-arrays)
        std::copy(name.key.begin(), name.key.end(), bytes.get());
        begin_state(made, rule);
        made.long_key = bytes.release();
    }
    ++used_;
    return entries_[at] = made;
}

// What follows moves up, unless it would then stand in front of where its search begins.
std::size_t LimitTable::erase(LimitEntry& entry) {
    const std::size_t bytes = heap_bytes(entry, std::make_index_sequence<std::variant_size_v<LimitRule>>{});
    end_entry(entry);
    auto gap = static_cast<std::size_t>(&entry - entries_.data());
    const std::size_t size = entries_.size();
    for (std::size_t at = next(gap); !entries_[at].is_free(); at = next(at)) {
        const std::size_t from_home = (at + size - home(entries_[at].hash)) % size;
        const std::size_t from_gap = (at + size - gap) % size;
        if (from_home >= from_gap) {
            entries_[gap] = entries_[at];
            gap = at;
        }
    }
    entries_[gap].kind = 0;
    --used_;
    return bytes;
}

LimitTable::Sweep LimitTable::erase_idle(std::int64_t now) {
    Sweep sweep;
    for (std::size_t at = 0; at < entries_.size();) {
        LimitEntry& entry = entries_[at];
        if (!entry.is_free() && entry.idle_at <= now) {
            sweep.heap_bytes += erase(entry);  // Another may stand here now.
            ++sweep.erased;
            continue;
        }
        if (!entry.is_free()) {
            sweep.earliest_idle = std::min(sweep.earliest_idle, entry.idle_at);
        }
        ++at;
    }
    return sweep;
}

}  // namespace sluice
