#pragma once

#include <memory>
#include <type_traits>
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
        // NOLINTNEXTLINE(google-explicit-constructor,bugprone-forwarding-reference-overload)
        UniqueFunction(F&& callable)
        : target_{std::make_unique<Holder<std::remove_cvref_t<F>>>(std::forward<F>(callable))} {}

    explicit operator bool() const { return target_ != nullptr; }

    R operator()(Args... args) { return target_->call(std::forward<Args>(args)...); }

private:
    struct Target {
        virtual ~Target() = default;
        virtual R call(Args... args) = 0;
    };

    template <class F>
    class Holder final : public Target {
    public:
        explicit Holder(F callable) : callable_{std::move(callable)} {}
        R call(Args... args) override { return callable_(std::forward<Args>(args)...); }

    private:
        F callable_;
    };

    std::unique_ptr<Target> target_;
};

}  // namespace sluice
