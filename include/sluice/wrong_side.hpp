#pragma once

// What happens where asserts are on and a Result is asked for the side that it does not have. Of no use
// otherwise.
#include <string>
#include <type_traits>
#include <variant>

namespace sluice::wrong_side {

// What was asked of a Result, and what it holds instead.
struct Mistake {
    const char* asked;
    const char* held;  // A function's name in which its type is behind "Held = ": there may be no typeid.
    std::string text;  // Of what is held, if it has any.
};

// Weak: there is none unless a program defines it. Then it is told of the mistake before the assert ends the
// program. The tests' own throws: one test fails and says why, and the others run.
[[gnu::weak]] void found(const Mistake& mistake);

template <class Held>
std::string text_of(const Held& held) {
    if constexpr (std::is_convertible_v<const Held&, std::string>) {
        return held;
    } else if constexpr (requires { std::string{held.detail}; }) {
        return held.detail;
    } else if constexpr (requires { std::string{held.message}; }) {
        return held.message;
    } else if constexpr (requires { std::string{held.what}; }) {
        return held.what;
    } else if constexpr (std::is_enum_v<Held>) {
        return std::to_string(static_cast<std::underlying_type_t<Held>>(held));
    } else if constexpr (std::is_arithmetic_v<Held>) {
        return std::to_string(held);
    } else {
        return {};
    }
}

// False, for an assert.
template <class Held>
bool report(const char* asked, const Held& held) {
    if (found != nullptr) {
        found({asked, __PRETTY_FUNCTION__, text_of(held)});
    }
    return false;
}

template <class Value, class Error>
bool report(const std::variant<Value, Error>& state) {
    return state.index() == 0 ? report("the error", *std::get_if<0>(&state))
                              : report("the value", *std::get_if<1>(&state));
}

}  // namespace sluice::wrong_side
