#include <fstream>
#include <sstream>

#include "files/yaml_file_internal.hpp"

namespace sluice {

Result<std::string, std::string> text_of_file(const std::string& path, std::string_view what) {
    constexpr std::size_t kBytesMax = 4 * 1024 * 1024;
    const std::string subject = "The " + std::string{what} + " " + path;
    std::ifstream file{path, std::ios::binary};
    std::ostringstream text;
    text << file.rdbuf();
    if (!file.is_open() || file.bad()) {
        return Unexpected{subject + " cannot be read."};
    }
    if (text.view().size() > kBytesMax) {
        return Unexpected{subject + " is larger than 4 MiB."};
    }
    return std::move(text).str();
}

}  // namespace sluice
