#include "app/dispatch/keepership.hpp"

namespace sluice {

void Keepership::told(const std::optional<Keeping>& keeping, BootTime asked) {
    if (!keeping) {
        lease_.reset();
        ask_at_ = asked + kAskAgain;
    } else if (keeping->lasts == Duration::max()) {
        lease_ = {keeping->fence, BootTime::max()};
        ask_at_ = BootTime::max();
    } else {
        lease_ = {keeping->fence, asked + keeping->lasts};
        ask_at_ = asked + keeping->lasts / 3;
    }
}

void Keepership::forget(BootTime now) {
    lease_.reset();
    ask_at_ = now;
}

std::optional<Keepership::Lease> Keepership::lease(BootTime now) const {
    return lease_ && now < lease_->until ? lease_ : std::nullopt;
}

}  // namespace sluice
