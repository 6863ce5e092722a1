#include "door/http/body_budget.hpp"

#include <algorithm>

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sluice::http {

namespace asio = boost::asio;

void BodyBudget::close() {
    const std::lock_guard lock{mutex_};
    line_.clear();
}

std::size_t BodyBudget::taken() const {
    const std::lock_guard lock{mutex_};
    return taken_;
}

bool BodyBudget::grant(BodyShare& share) {
    const std::size_t more = share.wanted_ - share.bytes_;
    if (taken_ + more > bytes_max_) {
        if (beyond_ != nullptr && beyond_ != &share) {
            return false;
        }
        beyond_ = &share;
    }
    taken_ += more;
    share.bytes_ = share.wanted_;
    return true;
}

void BodyBudget::serve_line() noexcept {
    while (!line_.empty() && grant(*line_.front())) {
        const std::shared_ptr<asio::steady_timer> alarm = line_.front()->alarm_;
        line_.pop_front();
        try {
            // The timer belongs to another thread; shared, because its owner may have left when that gets to
            // it.
            asio::post(alarm->get_executor(), [alarm] { alarm->cancel(); });
        } catch (...) {
            // No memory for the message: it finds its room when its patience is over.
            continue;
        }
    }
}

BodyShare::~BodyShare() {
    const std::lock_guard lock{budget_.mutex_};
    std::erase(budget_.line_, this);
    budget_.taken_ -= bytes_;
    if (budget_.beyond_ == this) {
        budget_.beyond_ = nullptr;
    }
    budget_.serve_line();
}

asio::awaitable<bool> BodyShare::grow_to(std::size_t bytes, std::chrono::milliseconds patience) {
    const auto executor = co_await asio::this_coro::executor;
    {
        const std::lock_guard lock{budget_.mutex_};
        wanted_ = std::max(bytes, bytes_);
        const bool in_turn = budget_.line_.empty() || budget_.beyond_ == this;
        if (in_turn && budget_.grant(*this)) {
            co_return true;
        }
        alarm_ = std::make_shared<asio::steady_timer>(executor, patience);
        budget_.line_.push_back(this);
    }
    boost::system::error_code ignored;
    co_await alarm_->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    const std::lock_guard lock{budget_.mutex_};
    std::erase(budget_.line_, this);
    const bool granted = bytes_ == wanted_;
    wanted_ = bytes_;
    co_return granted;
}

}  // namespace sluice::http
