// A folder in which bits flipped or files are missing: it is refused with what to do, or all that was
// answered is there.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "base/random.hpp"
#include "store/rocks/slots/rocks_slot_tables.hpp"
#include "support/counting_metrics.hpp"
#include "support/hand_clock.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"
#include "support/temp_folder.hpp"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::size_t kEvents = 400;

std::string bytes_of(const fs::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}
void write_bytes(const fs::path& path, const std::string& bytes) {
    std::ofstream{path, std::ios::binary} << bytes;
}

class RocksDamage : public testing::Test {
protected:
    void SetUp() override {
        // Copied while it is open: as a kill leaves it.
        {
            auto tables = open_rocks_slot_tables({.path = temp_ / "live"}).value();
            HandClock clock{kNoon};
            const auto ledger = make_slot_ledger(std::move(tables), {}, {clock, metrics_, log_});
            ASSERT_TRUE(ledger->put_config(draft("a", 5, 1s)));
            for (std::size_t i = 0; i < kEvents; i += 4) {
                AllOutcome placed = run_all(*ledger, AssignAll{{assign(event(i), "a", SlotAsk{kNoon}),
                                                                assign(event(i + 1), "a", SlotAsk{kNoon}),
                                                                assign(event(i + 2), "a", SlotAsk{kNoon}),
                                                                assign(event(i + 3), "a", SlotAsk{kNoon})}});
                for (const Granted& granted : placed.value()) {
                    slots_.push_back(granted.slot);
                }
            }
            fs::copy(temp_ / "live", temp_ / "killed", fs::copy_options::recursive);
        }
        fs::copy(temp_ / "live", temp_ / "stopped", fs::copy_options::recursive);
        take("killed");
    }

    // The folder under test becomes a copy of that one.
    void take(const std::string& name) {
        fs::remove_all(path_);
        fs::copy(temp_ / name, path_, fs::copy_options::recursive);
    }
    [[nodiscard]] std::vector<fs::path> files(const std::string& part) const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator{path_}) {
            if (entry.path().filename().string().find(part) != std::string::npos &&
                fs::file_size(entry.path()) > 0) {
                found.push_back(entry.path());
            }
        }
        std::sort(found.begin(), found.end());
        return found;
    }
    void flip(const fs::path& file, std::size_t byte, unsigned bit = 3) const {
        std::string bytes = bytes_of(file);
        bytes.at(byte) = static_cast<char>(static_cast<unsigned char>(bytes.at(byte)) ^ (1U << bit));
        write_bytes(file, bytes);
    }
    [[nodiscard]] Result<std::unique_ptr<SlotTables>, StoreError> open(
        WhenLost when_lost = WhenLost::Refuse) const {
        return open_rocks_slot_tables({.path = path_, .when_lost = when_lost});
    }

    // How many of the answered events are as they were answered; nothing when a read says that it cannot be
    // read.
    static std::optional<std::size_t> found_in(SlotTables& tables, const std::vector<Slot>& slots) {
        std::size_t found = 0;
        for (const Slot& slot : slots) {
            const std::string_view id = slot.event_id.text();
            const auto stored = tables.find({&id, 1});
            if (!stored) {
                return std::nullopt;
            }
            found += stored->front() == slot ? 1U : 0U;
        }
        return found;
    }
    // Refused, or refuses to answer, or has all: nothing is missing without a word.
    void expect_nothing_missing_unsaid() {
        const auto tables = open();
        if (!tables) {
            EXPECT_THAT(tables.error().what, Not(HasSubstr("newer")));
            return;
        }
        if (!(*tables)->verify()) {
            return;
        }
        const auto found = found_in(**tables, slots_);
        EXPECT_TRUE(!found || *found == kEvents) << *found << " of " << kEvents;
    }

    TempFolder temp_;
    std::string path_ = temp_ / "data";
    CountingMetrics metrics_;
    RecordingLog log_;
    std::vector<Slot> slots_;
};

TEST_F(RocksDamage, IsNoneInAFolderThatWasKilled) {
    const auto tables = open();

    ASSERT_TRUE(tables) << tables.error().what;
    EXPECT_EQ(found_in(**tables, slots_), kEvents);
}

TEST_F(RocksDamage, IsNoneInAWriteThatWasCutOff) {
    const auto log = files(".log").back();
    const std::string bytes = bytes_of(log);
    // One more write of 256 bytes, as far as it came before the kill: nobody was answered.
    const std::string next = std::string{"\x12\x34\x56\x78\x00\x01\x01", 7} + std::string(256, 'x');
    for (const std::size_t written : {1U, 6U, 7U, 8U, 40U, 100U}) {
        SCOPED_TRACE(std::to_string(written) + " bytes of it");
        take("killed");
        write_bytes(log, bytes + next.substr(0, written));
        const auto tables = open();
        ASSERT_TRUE(tables) << tables.error().what;
        EXPECT_EQ(found_in(**tables, slots_), kEvents);
    }
}

TEST_F(RocksDamage, IsNoneInAWriteWhoseSectorsDidNotReachTheDisk) {
    const auto log = files(".log").back();

    write_bytes(log, bytes_of(log) + std::string(2'000, '\0'));

    const auto tables = open();
    ASSERT_TRUE(tables) << tables.error().what;
    EXPECT_EQ(found_in(**tables, slots_), kEvents);
}

// Every 97th byte, and every byte of some headers in the middle: the length, the type and the checksum.
TEST_F(RocksDamage, OfTheNewestLogIsRefusedWhereverItIs) {
    const auto log = files(".log").back();
    const std::size_t size = fs::file_size(log);
    std::vector<std::size_t> places;
    for (std::size_t byte = 0; byte < size; byte += 197) {
        places.push_back(byte);
    }
    for (std::size_t byte = 0; byte < 24; ++byte) {
        places.push_back(byte);
        places.push_back(size - 1 - byte * 5);
    }
    for (const std::size_t place : places) {
        SCOPED_TRACE("byte " + std::to_string(place) + " of " + std::to_string(size));
        take("killed");
        flip(log, place, static_cast<unsigned>(place % 8));

        const auto tables = open();

        ASSERT_FALSE(tables) << "opened";
        EXPECT_THAT(tables.error().what, HasSubstr("log"));
        EXPECT_THAT(tables.error().advice, HasSubstr("--accept-loss"));
    }
}

TEST_F(RocksDamage, IsRefusedAgainAndAgainAndLeavesTheLogAlone) {
    const auto log = files(".log").back();
    flip(log, fs::file_size(log) / 20);
    const std::string damaged = bytes_of(log);

    EXPECT_FALSE(open());
    EXPECT_FALSE(open());

    EXPECT_EQ(bytes_of(log), damaged);
}

TEST_F(RocksDamage, OfALogThatIsMissingOrShorterIsRefused) {
    const auto log = files(".log").back();
    const std::string bytes = bytes_of(log);
    fs::resize_file(log, bytes.size() - 10);
    EXPECT_FALSE(open()) << "cut off";

    fs::resize_file(log, 0);
    EXPECT_FALSE(open()) << "empty";

    fs::remove(log);
    const auto tables = open();
    ASSERT_FALSE(tables) << "missing";
    EXPECT_THAT(tables.error().advice, HasSubstr("--accept-loss"));
    EXPECT_FALSE(open()) << "the second time";
}

TEST_F(RocksDamage, CanBeAcceptedAndIsThenForgotten) {
    const auto log = files(".log").back();
    flip(log, fs::file_size(log) / 2);
    ASSERT_FALSE(open());
    {
        const auto accepted = open(WhenLost::GoOn);
        ASSERT_TRUE(accepted) << accepted.error().what;
        const auto left = found_in(**accepted, slots_);
        EXPECT_GT(left, kEvents / 4);
        EXPECT_LT(left, kEvents);
    }

    const auto tables = open();

    ASSERT_TRUE(tables) << tables.error().what;
    EXPECT_THAT(recount(**tables)->differences, IsEmpty());
}

TEST_F(RocksDamage, IsNoneWhenTheLogIsMissingAfterACleanStop) {
    take("stopped");
    for (const auto& entry : files(".log")) {
        fs::remove(entry);
    }

    const auto tables = open();

    ASSERT_TRUE(tables) << tables.error().what;
    EXPECT_EQ(found_in(**tables, slots_), kEvents);
}

TEST_F(RocksDamage, OfAnyOtherFileIsNeverPassedOver) {
    Random random{7};
    for (const char* kind : {".sst", "MANIFEST", "CURRENT", "OPTIONS", "HIGHWATER", "IDENTITY"}) {
        take("stopped");
        const auto found = files(kind);
        ASSERT_THAT(found, Not(IsEmpty())) << kind;
        for (const auto& file : found) {
            for (int i = 0; i < 12; ++i) {
                take("stopped");
                const std::size_t place = random.below(fs::file_size(file));
                SCOPED_TRACE(file.filename().string() + ", byte " + std::to_string(place));
                flip(file, place, static_cast<unsigned>(random.below(8)));
                expect_nothing_missing_unsaid();
            }
        }
    }
}

TEST_F(RocksDamage, OfAMissingFileIsNeverPassedOver) {
    for (const char* kind : {".sst", "MANIFEST", "CURRENT"}) {
        take("stopped");
        const auto found = files(kind);
        fs::remove(found.back());
        SCOPED_TRACE(found.back().filename().string());

        EXPECT_FALSE(open());
        EXPECT_FALSE(open(WhenLost::GoOn));
    }
}

TEST_F(RocksDamage, IsFoundByVerifying) {
    take("stopped");
    ASSERT_TRUE(open().value()->verify());
    for (const auto& file : files(".sst")) {
        flip(file, 20);
    }

    const auto tables = open();

    EXPECT_TRUE(!tables || !(*tables)->verify());
}

TEST_F(RocksDamage, DoesNotComeFromRestartsWhichAddNoFiles) {
    take("stopped");
    const auto count = [this] {
        return std::distance(fs::directory_iterator{path_}, fs::directory_iterator{});
    };
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(open());
    }
    const auto before = count();

    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(open());
    }

    EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace sluice::test
