#pragma once

#include <memory>
#include <utility>

namespace sluice {

template <class Signature>
class UniqueFunction;

// A callable that is owned once and need not be copyable (std::move_only_function, which C++20 lacks).
template <class R, class... Args>
class UniqueFunction<R(Args...)> {
public:
    UniqueFunction() = default;

    template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, UniqueFunction>)
        UniqueFunction(F&& callable)  // NOLINT(*-explicit-*,*-forwarding-reference-overload)
        : target_{std::make_unique<Holder<std::remove_cvref_t<F>>>(std::forward<F>(callable))} {}

    explicit operator bool() const { return target_ != nullptr; }

    R operator()(Args... args) { return target_->call(std::forward<Args>(args)...); }

private:
    struct Target {
        virtual ~Target() = default;
        virtual R call(Args... args) = 0;
    };

    template <class F>
    struct Holder final : Target {
        template <class G>
        explicit Holder(G&& callable) : callable_{std::forward<G>(callable)} {}
        R call(Args... args) override { return callable_(std::forward<Args>(args)...); }
        F callable_;
    };

    std::unique_ptr<Target> target_;
};

}  // namespace sluice
