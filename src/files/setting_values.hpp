#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace sluice {

// Texts of settings as values. Each fails with a sentence that quotes the text; the caller says which setting
// it is.

// `PT5S`, or as people write it: `50ms`, `5s`, `2m`, `1h`, `7d`.
Result<Duration, std::string> duration_setting(const std::string& text);

struct NumberRange {
    std::size_t least;
    std::size_t most;
};

Result<std::size_t, std::string> number_setting(const std::string& text, NumberRange range);

// `64MiB`, `2GiB`, `512KiB`, or a number of bytes.
Result<std::uint64_t, std::string> size_setting(const std::string& text);

// The path of a file or a folder.
Result<std::string, std::string> path_setting(const std::string& text);

// `true` or `false`.
Result<bool, std::string> truth_setting(const std::string& text);

}  // namespace sluice
