#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace sluice {

// One entry of a settings file: `slots: {batchMax: 5}` is the key slots.batchMax with the value 5.
struct FileEntry {
    std::string key;
    std::string value;  // Of a list: its JSON text, in which all that is no list and no tree is a string.
    int line = 0;
    bool single = true;  // False for a list.
};

// Reads a YAML file of settings. Fails with one sentence: the file cannot be read, is not YAML, holds a key
// twice, or is no tree of keys and values.
Result<std::vector<FileEntry>, std::string> read_settings_file(const std::string& path);

}  // namespace sluice
