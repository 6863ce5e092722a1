#pragma once

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#ifndef NDEBUG
#include <sluice/wrong_side.hpp>
#endif

namespace sluice {

// The failing side of a Result: `return Unexpected{error};`.
template <class E>
struct Unexpected {
    E error;
};
template <class E>
Unexpected(E) -> Unexpected<E>;

// Either a value or the reason why there is none, with the member names of std::expected (which C++20 lacks).
// REQUIRES: value() only after has_value(), error() only after !has_value().
template <class T, class E>
class [[nodiscard]] Result {
public:
    // Implicit, so that `return value;` and `return Unexpected{error};` read as they do.
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(T value) : state_{std::in_place_index<0>, std::move(value)} {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(Unexpected<E> failure) : state_{std::in_place_index<1>, std::move(failure.error)} {}

    [[nodiscard]] bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value() & { return checked<0>(state_); }
    const T& value() const& { return checked<0>(state_); }
    T&& value() && { return std::move(checked<0>(state_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    E& error() & { return checked<1>(state_); }
    const E& error() const& { return checked<1>(state_); }
    E&& error() && { return std::move(checked<1>(state_)); }

private:
    template <std::size_t I, class State>
    static auto& checked(State& state) {
        assert(state.index() == I || wrong_side::report(state));
        return *std::get_if<I>(&state);
    }

    std::variant<T, E> state_;
};

template <class E>
class [[nodiscard]] Result<void, E> {
public:
    Result() = default;
    // NOLINTNEXTLINE(google-explicit-constructor)
    Result(Unexpected<E> failure) : error_{std::move(failure.error)} {}

    [[nodiscard]] bool has_value() const { return !error_.has_value(); }
    explicit operator bool() const { return has_value(); }

    const E& error() const& {
        assert(error_.has_value() || wrong_side::report("the error", std::monostate{}));
        return *error_;
    }

private:
    std::optional<E> error_;
};

}  // namespace sluice
