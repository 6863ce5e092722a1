#include "files/text_file.hpp"
#include "files/yaml_file_internal.hpp"

namespace sluice {

Result<std::string, std::string> text_of_file(const std::string& path, std::string_view what) {
    auto text = read_text_file(path);
    if (!text) {
        return Unexpected{"The " + std::string{what} + " " + path + " cannot be read: " + text.error() + "."};
    }
    return text;
}

}  // namespace sluice
