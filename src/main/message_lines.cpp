#include "main/message_lines.hpp"

#include "main/log_line.hpp"

namespace sluice {
namespace {

class MessageLines final : public MessageOutlet {
public:
    MessageLines(LogFormat format, const Clock& clock, std::FILE* file)
        : format_{format}, clock_{clock}, file_{file} {}

    bool send(const OutgoingMessage& message) override {
        const std::string text = "SMS Sent: " + std::to_string(message.user.number) + ": " + message.text;
        const LogEntry entry{clock_.now(), LogLevel::Info, "Sender", text};
        const std::string line = (format_ == LogFormat::Json ? json_line(entry) : text_line(entry)) + "\n";
        // One call, which locks the file: lines of others stand before or behind it.
        const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size();
        const bool flushed = std::fflush(file_) == 0;
        std::clearerr(file_);
        return written && flushed;
    }

private:
    const LogFormat format_;
    const Clock& clock_;
    std::FILE* const file_;
};

}  // namespace

std::unique_ptr<MessageOutlet> make_message_lines(LogFormat format, const Clock& clock, std::FILE* file) {
    return std::make_unique<MessageLines>(format, clock, file);
}

}  // namespace sluice
