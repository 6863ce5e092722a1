#pragma once

#include <string>

namespace sluice::redis {

// A script, and the name by which a server knows it.
class Script {
public:
    explicit Script(std::string text);

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::string& sha() const { return sha_; }

private:
    std::string text_;
    std::string sha_;
};

}  // namespace sluice::redis
