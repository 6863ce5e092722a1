#include "support/work_check.hpp"

#include <algorithm>
#include <map>

namespace sluice::test {
namespace {

using Wrongs = std::vector<std::string>;

std::map<std::string, WorkRow> all_works(WorkTables& tables, Wrongs& wrongs) {
    std::map<std::string, WorkRow> works;
    const auto scanned = tables.scan_works({}, [&](const WorkRow& row) {
        works.emplace(row.work.event_id.text(), row);
        return true;
    });
    if (!scanned) {
        wrongs.push_back(scanned.error().what);
    }
    return works;
}

void check_lanes(WorkTables& tables, const std::map<std::string, WorkRow>& works, Wrongs& wrongs) {
    std::map<std::string, int> places;
    const auto lanes = tables.lanes().value();
    for (const Lane& lane : lanes) {
        const auto scanned = tables.scan_lane(lane, {}, [&](const LanePoint& point) {
            ++places[point.event_id];
            const auto work = works.find(point.event_id);
            if (work == works.end() || spot_of(work->second.work) != LaneSpot{lane, point}) {
                wrongs.push_back("'" + point.event_id + "' stands where its row does not say.");
            }
            return true;
        });
        if (!scanned) {
            wrongs.push_back(scanned.error().what);
        }
    }
    for (const auto& [id, row] : works) {
        const int expected = is_final(row.work.state) ? 0 : 1;
        if (places[id] != expected) {
            wrongs.push_back("'" + id + "' stands in " + std::to_string(places[id]) + " lanes.");
        }
    }
}

bool agree(const Slot& slot, const Work& work) {
    const bool open = slot.work == WorkMark::Open;
    const bool cancelled = slot.state == SlotState::Cancelled;
    return open != is_final(work.state) && cancelled == (work.state == WorkState::Withdrawn) &&
           (cancelled || slot.scheduled == work.scheduled) && slot.weight == work.weight;
}

}  // namespace

std::vector<std::string> wrongs_of_work(SlotTables& tables) {
    Wrongs wrongs;
    WorkTables& work_tables = *tables.work();
    const auto works = all_works(work_tables, wrongs);
    check_lanes(work_tables, works, wrongs);
    std::size_t slots = 0;
    const auto scanned = tables.scan_slots([&](const Slot& slot) {
        if (slot.work == WorkMark::None) {
            return;
        }
        ++slots;
        const auto work = works.find(slot.event_id.text());
        if (work == works.end()) {
            wrongs.push_back("'" + slot.event_id.text() + "' has lost its work.");
        } else if (!agree(slot, work->second.work)) {
            wrongs.push_back("'" + slot.event_id.text() + "' and its work say different things.");
        }
    });
    if (!scanned) {
        wrongs.push_back(scanned.error().what);
    }
    if (slots != works.size()) {
        wrongs.push_back("There are works without slots.");
    }
    for (const auto& [id, row] : works) {
        const std::string_view key = id;
        if (!work_tables.orders({&key, 1}).value().front()) {
            wrongs.push_back("'" + id + "' has no order.");
        }
    }
    return wrongs;
}

}  // namespace sluice::test
