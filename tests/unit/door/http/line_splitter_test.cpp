#include "door/http/line_splitter.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

// Feeds the text in pieces of one size; a line that is too long is told as "<long>".
std::vector<std::string> split(std::string_view text, std::size_t piece) {
    LineSplitter splitter;
    std::vector<std::string> lines;
    const auto line = [&lines](std::string_view one) { lines.emplace_back(one); };
    const auto too_long = [&lines] { lines.emplace_back("<long>"); };
    for (std::size_t at = 0; at < text.size(); at += piece) {
        splitter.feed(text.substr(at, piece), line, too_long);
    }
    splitter.end(line, too_long);
    return lines;
}

TEST(LineSplitter, GivesTheSameLinesHoweverTheyAreCut) {
    const std::string text = "one\n\ntwo\r\n\r\nthree four\n\nlast";
    const std::vector<std::string> lines{"one", "two", "three four", "last"};

    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        EXPECT_EQ(split(text, piece), lines) << "in pieces of " << piece;
    }
}

TEST(LineSplitter, TellsOfALineThatIsTooLongAndGoesOnBehindIt) {
    const std::string longest(kLineBytesMax, 'x');
    const std::string text = longest + "\n" + longest + "x\nnext\n";

    for (const std::size_t piece : {std::size_t{1000}, kLineBytesMax, text.size()}) {
        EXPECT_EQ(split(text, piece), (std::vector<std::string>{longest, "<long>", "next"}));
    }
}

TEST(LineSplitter, DoesNotCountTheEndOfALine) {
    const std::string longest(kLineBytesMax, 'x');
    const std::string text =
        longest + "\r\n" + longest + "\ry\r\n" + longest + "x\r\nnext\r\n" + longest + "\r";

    for (const std::size_t piece :
         {std::size_t{1}, std::size_t{1000}, kLineBytesMax, kLineBytesMax + 1, text.size()}) {
        EXPECT_EQ(split(text, piece),
                  (std::vector<std::string>{longest, "<long>", "<long>", "next", longest}))
            << "in pieces of " << piece;
    }
}

TEST(LineSplitter, TellsOfALongLineWithoutAnEnd) {
    EXPECT_EQ(split(std::string(kLineBytesMax + 1, 'x'), 4096), (std::vector<std::string>{"<long>"}));
}

}  // namespace
}  // namespace sluice::http
