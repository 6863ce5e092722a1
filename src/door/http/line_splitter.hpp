#pragma once

#include <string>
#include <string_view>

namespace sluice::http {

inline constexpr std::size_t kLineBytesMax = 64 * 1024;

// Cuts pieces of a stream into lines. Empty lines are passed over; of a line that is too long only the fact
// is told, and its bytes are dropped as they come.
class LineSplitter {
public:
    // Calls line(text) for each line that ends in `piece`, and too_long() in place of one beyond
    // kLineBytesMax, its end not counted.
    template <class Line, class TooLong>
    void feed(std::string_view piece, Line line, TooLong too_long) {
        while (!piece.empty()) {
            const auto end = piece.find('\n');
            const std::string_view part = piece.substr(0, end);
            if (partial_.size() + part.size() > kLineBytesMax + (ends_with_return(part) ? 1 : 0)) {
                partial_.clear();
                skipping_ = true;
            } else if (!skipping_ && (end == std::string_view::npos || !partial_.empty())) {
                partial_ += part;
            }
            if (end == std::string_view::npos) {
                return;
            }
            finish(partial_.empty() ? part : std::string_view{partial_}, line, too_long);
            piece.remove_prefix(end + 1);
        }
    }

    // The last line may lack its end.
    template <class Line, class TooLong>
    void end(Line line, TooLong too_long) {
        finish(partial_, line, too_long);
    }

private:
    // What may be the first half of a line's end.
    [[nodiscard]] bool ends_with_return(std::string_view part) const {
        return part.empty() ? partial_.ends_with('\r') : part.ends_with('\r');
    }

    template <class Line, class TooLong>
    void finish(std::string_view text, Line& line, TooLong& too_long) {
        if (skipping_) {
            too_long();
        } else {
            if (text.ends_with('\r')) {
                text.remove_suffix(1);
            }
            if (!text.empty()) {
                line(text);
            }
        }
        skipping_ = false;
        partial_.clear();
    }

    std::string partial_;
    bool skipping_ = false;
};

}  // namespace sluice::http
