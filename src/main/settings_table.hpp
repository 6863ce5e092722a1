#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class Support { Built, Later };  // Later: known to the contract, refused by this version.
// InUrl: the value may be a URL with a password. InHeaders: headers in it may be passwords.
enum class Secrecy { Open, InUrl, InHeaders };
enum class Reach { Everywhere, NoFlag };  // NoFlag: settings file and variable only.
enum class Form { Single, List };         // List: in the settings file it is one.

// One setting of `sluice serve`. Its key in sluice.yaml names it; the flag and the variable follow from the
// key: tokenFile is --token-file and SLUICE_TOKEN_FILE, slots.batchMax is SLUICE_SLOTS_BATCH_MAX.
struct SettingSpec {
    std::string_view key;
    std::string_view default_value;  // Empty: none.
    std::string_view value_name;
    std::string_view help;
    Reach reach = Reach::Everywhere;
    Support support = Support::Built;
    Secrecy secrecy = Secrecy::Open;
    std::array<std::string_view, 4> choices{};  // Those that are not empty.
    Form form = Form::Single;

    [[nodiscard]] std::string flag() const;  // With its dashes; empty when there is none.
    [[nodiscard]] std::string variable() const;
    [[nodiscard]] std::string file_variable()
        const;  // Names a file that holds the value; empty unless secret.
};

// Every setting there is, in the order of --help and --print-config.
std::span<const SettingSpec> settings_table();

// Null when there is none.
const SettingSpec* find_setting(std::string_view key);

// The value with the password of a URL, if there is one, as "****".
std::string mask_secret(std::string_view value);

// Whether a masked password stands in the value.
bool holds_mask(std::string_view value);

// Where a URL points, without user, password and parameters: " at host:port/database". Empty when that cannot
// be told apart from a password.
std::string place_of(std::string_view url);

}  // namespace sluice
