#pragma once

#include <map>
#include <memory>

#include "app/dispatch/carrier.hpp"

namespace sluice {

// The carriers of a process, by what they carry to.
// Thread safety: immutable once all are added.
class Carriers {
public:
    void add(TargetKind kind, std::unique_ptr<Carrier> carrier) { carriers_[kind] = std::move(carrier); }

    // Null: this process carries nothing there.
    [[nodiscard]] Carrier* find(TargetKind kind) const {
        const auto found = carriers_.find(kind);
        return found == carriers_.end() ? nullptr : found->second.get();
    }

    void stop() {
        for (const auto& [kind, carrier] : carriers_) {
            carrier->stop();
        }
    }

private:
    std::map<TargetKind, std::unique_ptr<Carrier>> carriers_;
};

}  // namespace sluice
