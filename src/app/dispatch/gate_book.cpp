#include "app/dispatch/gate_book.hpp"

#include <algorithm>

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
    const bool is_first = !entry.gate;
    if (is_first) {
        entry.gate.emplace(terms, now + Gate::kSecond);
    } else {
        entry.gate->change(terms);
    }
    while (entry.admitted.size() < entry.ungated) {
        entry.admitted.push_back(entry.gate->admit());
    }
    for (const auto& [key, call] : outside_) {
        if (is_first && std::ranges::find(call.subjects, subject) != call.subjects.end()) {
            entry.gate->occupy(call.until);
        }
    }
    keeps_permits_ = keeps_permits_ || !outside_.empty();
    entry.unsure = now;
    if (alone_) {
        be_sure(entry, now);
    }
}

void GateBook::be_sure(Entry& entry, SteadyTime now) {
    entry.unsure.reset();
    entry.gate->close_until(now + Gate::kSecond);
}

void GateBook::count_outside(const OutsideCalls& calls, SteadyTime asked, SteadyTime now) {
    counted_ = asked;
    for (auto known = outside_.begin(); known != outside_.end();) {
        if (calls.contains(known->first)) {
            ++known;
        } else {
            vacate(known->second, now);
            known = outside_.erase(known);
        }
    }
    keeps_permits_ = false;
    for (const auto& [key, call] : calls) {
        const auto [known, is_new] = outside_.emplace(key, call);
        if (is_new) {
            occupy(call);
        }
        keeps_permits_ = keeps_permits_ || passes_gate(call);
    }
    for (auto& [subject, entry] : entries_) {
        if (entry.unsure && *entry.unsure + kOthersBegin <= asked) {
            be_sure(entry, now);
        }
    }
}

SteadyTime GateBook::next_count() const {
    SteadyTime next = keeps_permits_ ? counted_ + Gate::kSecond : SteadyTime::max();
    for (const auto& [subject, entry] : entries_) {
        if (entry.holds && entry.unsure) {
            next = std::min(next, *entry.unsure + kOthersBegin);
        }
    }
    return next;
}

void GateBook::close(SteadyTime now) {
    for (auto& [subject, entry] : entries_) {
        if (entry.gate) {
            entry.gate->close_until(now + Gate::kSecond);
        }
    }
}

SteadyTime GateBook::next(const Subject& subject) const {
    const auto found = entries_.find(subject);
    if (found == entries_.end() || !found->second.holds) {
        return SteadyTime::min();
    }
    return found->second.unsure ? SteadyTime::max() : found->second.gate->next();
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

void GateBook::lend(const Pass& pass, const std::string& key, SteadyTime until, SteadyTime now) {
    entries_.at(pass.subject).gate->withdrawn(pass.permit);
    const OutsideCall& call =
        outside_.insert_or_assign(key, OutsideCall{{pass.subject}, until}).first->second;
    occupy(call);
    keeps_permits_ = true;
    counted_ = std::max(counted_, now);
}

void GateBook::end_outside(const std::string& key, SteadyTime now) {
    if (const auto known = outside_.extract(key)) {
        vacate(known.mapped(), now);
    }
}

// Also where the gate is not in force: it may be again before that.
void GateBook::occupy(const OutsideCall& call) {
    for (const Subject& subject : call.subjects) {
        const auto found = entries_.find(subject);
        if (found != entries_.end() && found->second.gate) {
            found->second.gate->occupy(call.until);
        }
    }
}

void GateBook::vacate(const OutsideCall& call, SteadyTime now) {
    for (const Subject& subject : call.subjects) {
        const auto found = entries_.find(subject);
        if (found != entries_.end() && found->second.gate && now + Gate::kSecond < call.until) {
            found->second.gate->vacate(call.until, now + Gate::kSecond);
        }
    }
}

bool GateBook::passes_gate(const OutsideCall& call) const {
    return std::ranges::any_of(call.subjects, [this](const Subject& subject) {
        const auto found = entries_.find(subject);
        return found != entries_.end() && found->second.holds;
    });
}

std::vector<Subject> GateBook::subjects() const {
    std::vector<Subject> all;
    for (const auto& [subject, entry] : entries_) {
        if (entry.holds) {
            all.push_back(subject);
        }
    }
    return all;
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
