#include "files/text_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t kBytesMax = 4 * 1024 * 1024;

Unexpected<std::string> why() { return Unexpected{std::string{std::strerror(errno)}}; }

// Not by a stream: it does not say why it fails.
Result<std::string, std::string> read_all(int file) {
    std::string text;
    std::array<char, 16 * 1024> bytes;
    while (true) {
        const auto count = ::read(file, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return why();
        }
        if (count == 0) {
            return text;
        }
        text.append(bytes.data(), static_cast<std::size_t>(count));
        if (text.size() > kBytesMax) {
            return Unexpected{std::string{"it is larger than 4 MiB"}};
        }
    }
}

}  // namespace

Result<std::string, std::string> read_text_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return why();
    }
    auto text = read_all(file);
    ::close(file);
    return text;
}

Result<std::string, std::string> read_first_line(const std::string& path) {
    auto text = read_text_file(path);
    if (!text) {
        return text;
    }
    if (text->empty()) {
        return Unexpected{std::string{"it is empty"}};
    }
    return text->substr(0, text->find('\n'));
}

}  // namespace sluice
