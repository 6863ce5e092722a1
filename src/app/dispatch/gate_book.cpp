#include "app/dispatch/gate_book.hpp"

namespace sluice {

void GateBook::apply(const DispatchTerms& terms, SteadyTime now) {
    for (const auto& [subject, gate] : terms.gates) {
        put(subject, gate, now);
    }
    for (auto& [subject, entry] : entries_) {
        entry.holds = entry.holds && terms.gates.contains(subject);
    }
}

void GateBook::apply(const Subject& subject, const DispatchTerms& terms, SteadyTime now) {
    if (const auto found = terms.gates.find(subject); found != terms.gates.end()) {
        put(subject, found->second, now);
    } else if (const auto entry = entries_.find(subject); entry != entries_.end()) {
        entry->second.holds = false;
    }
}

void GateBook::put(const Subject& subject, GateTerms terms, SteadyTime now) {
    Entry& entry = entries_[subject];
    if (entry.holds) {
        if (entry.gate->terms() != terms) {
            entry.gate->change(terms);
        }
        return;
    }
    entry.holds = true;
    if (entry.gate) {
        entry.gate->change(terms);
        entry.gate->close_until(now + Gate::kSecond);
    } else {
        entry.gate.emplace(terms, now + Gate::kSecond);
    }
    while (entry.admitted.size() < entry.ungated) {
        entry.admitted.push_back(entry.gate->admit());
    }
    const auto [first, last] = before_.equal_range(subject);
    for (auto claim = first; claim != last; ++claim) {
        entry.gate->occupy(claim->second);
    }
    before_.erase(first, last);
}

SteadyTime GateBook::next(const Subject& subject) const {
    const auto found = entries_.find(subject);
    return found == entries_.end() || !found->second.holds ? SteadyTime::min() : found->second.gate->next();
}

GateBook::Pass GateBook::take(const Subject& subject, SteadyTime when) {
    Entry& entry = entries_[subject];
    if (entry.holds) {
        return {subject, entry.gate->take(when)};
    }
    ++entry.ungated;
    return {subject};
}

void GateBook::began(const Pass& pass, SteadyTime when) {
    // Of the admitted nobody knows which is whose, so they count from their end.
    if (pass.permit != 0) {
        entries_.at(pass.subject).gate->began(pass.permit, when);
    }
}

void GateBook::ended(const Pass& pass, SteadyTime when) {
    const auto found = entries_.find(pass.subject);
    if (found == entries_.end()) {
        return;
    }
    Entry& entry = found->second;
    if (pass.permit != 0) {
        entry.gate->ended(pass.permit, when);
        return;
    }
    --entry.ungated;
    if (!entry.admitted.empty()) {
        entry.gate->ended(entry.admitted.back(), when);
        entry.admitted.pop_back();
    } else if (entry.ungated == 0 && !entry.gate) {
        entries_.erase(found);
    }
}

void GateBook::withdrawn(const Pass& pass, SteadyTime now) {
    if (pass.permit != 0) {
        entries_.at(pass.subject).gate->withdrawn(pass.permit);
    } else {
        ended(pass, now);
    }
}

void GateBook::occupy(const Subject& subject, SteadyTime until) {
    const auto found = entries_.find(subject);
    if (found != entries_.end() && found->second.gate) {
        found->second.gate->occupy(until);
    } else {
        before_.emplace(subject, until);
    }
}

std::vector<GateFigures> GateBook::figures(SteadyTime now) const {
    std::vector<GateFigures> all;
    for (const auto& [subject, entry] : entries_) {
        if (entry.holds) {
            all.push_back({subject, entry.gate->terms(), entry.gate->out(now)});
        }
    }
    return all;
}

}  // namespace sluice
