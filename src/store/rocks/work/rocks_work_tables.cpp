#include "store/rocks/work/rocks_work_tables.hpp"

#include <rocksdb/db.h>

#include "store/rocks/work/work_codec.hpp"

namespace sluice {
namespace {

using rocks::Database;
using rocks::to_error;
using rocks::WorkTable;

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

// Where rows are read from.
struct Source {
    std::optional<WorkTable> table;  // Absent: the folder's own, where holds, rates and permits stand.
    std::string_view name;           // As errors call it.
};
constexpr Source kWorks{WorkTable::Works, "works"};
constexpr Source kOrders{WorkTable::Orders, "orders"};
constexpr Source kLanes{WorkTable::Lanes, "lanes"};
constexpr Source kAudit{WorkTable::Audit, "audit"};
constexpr Source kSent{WorkTable::Sent, "sent"};
constexpr Source kTerms{std::nullopt, "holds, rates and permits"};

// What follows a row of a scan.
enum class Next { Row, End, Error };

Unexpected<StoreError> unreadable(const Source& source, std::string_view bytes) {
    return Unexpected{rocks::unreadable_row(source.name, bytes, rocks::kWorkRecord)};
}

class RocksWorkTables final : public rocks::WorkRows {
public:
    RocksWorkTables(std::shared_ptr<rocks::Folder> folder, std::shared_ptr<const rocks::WorkTableSet> set)
        : folder_{std::move(folder)}, set_{std::move(set)} {}

    Result<std::vector<std::optional<WorkRow>>, StoreError> find(
        std::span<const std::string_view> event_ids) override {
        auto rows = get<WorkRow>(kWorks, event_ids, [](std::string_view id, std::string_view bytes) {
            return rocks::decode_work(id, bytes);
        });
        if (rows) {
            for (std::optional<WorkRow>& row : *rows) {
                if (row && set_->is_forgotten(row->work)) {
                    row.reset();
                }
            }
        }
        return rows;
    }

    Result<std::vector<std::optional<WorkOrder>>, StoreError> orders(
        std::span<const std::string_view> event_ids) override {
        return get<WorkOrder>(kOrders, event_ids, [](std::string_view, std::string_view bytes) {
            return rocks::decode_order(bytes);
        });
    }

    Result<void, StoreError> scan_lane(const Lane& lane, const LanePoint& from,
                                       const PointSink& sink) override {
        const std::string end = rocks::lane_end(lane);
        return scan(kLanes, {rocks::lane_key({lane, from}), end},
                    [&](std::string_view key, std::string_view) {
                        const auto spot = rocks::decode_lane_key(key);
                        if (!spot) {
                            return Next::Error;
                        }
                        return sink(spot->point) ? Next::Row : Next::End;
                    });
    }

    Result<std::vector<Lane>, StoreError> lanes() override {
        std::vector<Lane> result;
        std::string from;
        for (;;) {
            // One row of each lane is enough: the next begins behind its end.
            std::optional<LaneSpot> first;
            const auto scanned = scan(kLanes, {from, {}}, [&](std::string_view key, std::string_view) {
                first = rocks::decode_lane_key(key);
                return first ? Next::End : Next::Error;
            });
            if (!scanned) {
                return Unexpected{scanned.error()};
            }
            if (!first) {
                return result;
            }
            from = rocks::lane_end(first->lane);
            result.push_back(std::move(first->lane));
        }
    }

    Result<void, StoreError> scan_works(std::string_view after, const WorkSink& sink) override {
        // The first key behind it.
        const std::string from = after.empty() ? std::string{} : std::string{after} + '\0';
        return scan(kWorks, {from, {}}, [&](std::string_view key, std::string_view value) {
            const auto row = rocks::decode_work(key, value);
            if (!row) {
                return Next::Error;
            }
            return set_->is_forgotten(row->work) || sink(*row) ? Next::Row : Next::End;
        });
    }

    Result<std::vector<AuditLine>, StoreError> lines(const EventId& event_id, std::uint32_t first) override {
        std::vector<AuditLine> result;
        const std::string prefix = rocks::lines_prefix(event_id.text());
        const auto scanned = scan(kAudit, {rocks::line_key(event_id.text(), first), {}},
                                  [&](std::string_view key, std::string_view value) {
                                      if (!key.starts_with(prefix)) {
                                          return Next::End;
                                      }
                                      auto line = rocks::decode_line(value);
                                      if (line) {
                                          result.push_back(std::move(*line));
                                      }
                                      return line ? Next::Row : Next::Error;
                                  });
        return scanned ? Result<std::vector<AuditLine>, StoreError>{std::move(result)}
                       : Unexpected{scanned.error()};
    }

    Result<DispatchTables, StoreError> load() override {
        DispatchTables tables;
        auto scanned = scan_terms(rocks::kHoldPrefix, tables.holds, rocks::decode_hold);
        if (scanned) {
            scanned = scan_terms(rocks::kRatePrefix, tables.rates, rocks::decode_rate);
        }
        if (scanned) {
            scanned = scan_permits(tables.permits);
        }
        if (scanned) {
            scanned = scan(kSent, {}, [&](std::string_view key, std::string_view value) {
                const auto row = rocks::decode_sent(key, value);
                if (row) {
                    tables.sent.push_back(*row);
                }
                return row ? Next::Row : Next::Error;
            });
        }
        if (!scanned) {
            return Unexpected{scanned.error()};
        }
        auto next = next_subject_line();
        if (!next) {
            return Unexpected{std::move(next).error()};
        }
        tables.next_subject_line = *next;
        return tables;
    }

    void add(rocks::Batch& batch, const WorkChanges& changes) const override { set_->add(batch, changes); }

private:
    struct Range {
        std::string_view from{};
        std::string_view end{};  // Empty: there is none.
    };

    template <class Row, class Decode>
    Result<std::vector<std::optional<Row>>, StoreError> get(const Source& source,
                                                            std::span<const std::string_view> event_ids,
                                                            Decode decode) {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const Database& database = **opened;
        std::vector<rocksdb::Slice> keys;
        keys.reserve(event_ids.size());
        for (const std::string_view id : event_ids) {
            keys.push_back(slice(id));
        }
        std::vector<rocksdb::PinnableSlice> values(keys.size());
        std::vector<rocksdb::Status> states(keys.size());
        constexpr bool kSorted = true;
        database.db().MultiGet({}, set_->table(database, *source.table), keys.size(), keys.data(),
                               values.data(), states.data(), kSorted);
        std::vector<std::optional<Row>> result(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (states[i].IsNotFound()) {
                continue;
            }
            if (!states[i].ok()) {
                return Unexpected{to_error("cannot read works", states[i])};
            }
            result[i] = decode(event_ids[i], view(values[i]));
            if (!result[i]) {
                return unreadable(source, view(values[i]));
            }
        }
        return result;
    }

    template <class Row>
    Result<void, StoreError> scan(const Source& source, const Range& range, Row row) {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const Database& database = **opened;
        rocksdb::ReadOptions options;
        const rocksdb::Slice end = slice(range.end);
        if (!range.end.empty()) {
            options.iterate_upper_bound = &end;
        }
        const std::unique_ptr<rocksdb::Iterator> rows{database.db().NewIterator(
            options, source.table ? set_->table(database, *source.table) : database.meta())};
        for (rows->Seek(slice(range.from)); rows->Valid(); rows->Next()) {
            switch (row(view(rows->key()), view(rows->value()))) {
                case Next::Row: break;
                case Next::End: return {};
                case Next::Error: return unreadable(source, view(rows->value()));
            }
        }
        return rows->status().ok() ? Result<void, StoreError>{}
                                   : Unexpected{to_error("cannot scan", rows->status())};
    }

    template <class Value, class Decode>
    Result<void, StoreError> scan_terms(std::string_view prefix, std::map<Subject, Value>& values,
                                        Decode decode) {
        return scan(kTerms, {prefix, {}}, [&](std::string_view key, std::string_view bytes) {
            if (!key.starts_with(prefix)) {
                return Next::End;
            }
            const auto subject = rocks::decode_subject_key(prefix, key);
            const auto value = decode(bytes);
            if (subject && value) {
                values.insert_or_assign(*subject, *value);
            }
            return subject && value ? Next::Row : Next::Error;
        });
    }

    Result<void, StoreError> scan_permits(std::map<std::string, LentPermit>& permits) {
        constexpr std::string_view kPrefix = rocks::kPermitPrefix;
        return scan(kTerms, {kPrefix, {}}, [&](std::string_view key, std::string_view bytes) {
            if (!key.starts_with(kPrefix)) {
                return Next::End;
            }
            auto permit = rocks::decode_permit(bytes);
            if (permit) {
                permits.emplace(key.substr(kPrefix.size()), *std::move(permit));
            }
            return permit ? Next::Row : Next::Error;
        });
    }

    Result<std::uint64_t, StoreError> next_subject_line() {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const Database& database = **opened;
        const std::unique_ptr<rocksdb::Iterator> rows{
            database.db().NewIterator({}, set_->table(database, WorkTable::Audit))};
        rows->SeekForPrev(slice(rocks::subject_lines_end()));
        if (!rows->status().ok()) {
            return Unexpected{to_error("cannot scan", rows->status())};
        }
        const auto last = rows->Valid() ? rocks::decode_subject_line_key(view(rows->key())) : std::nullopt;
        return last ? *last + 1 : 0;
    }

    const std::shared_ptr<rocks::Folder> folder_;  // Shared with other sets of tables.
    const std::shared_ptr<const rocks::WorkTableSet> set_;
};

}  // namespace

std::unique_ptr<rocks::WorkRows> make_rocks_work_tables(std::shared_ptr<rocks::Folder> folder,
                                                        std::shared_ptr<const rocks::WorkTableSet> set) {
    return std::make_unique<RocksWorkTables>(std::move(folder), std::move(set));
}

}  // namespace sluice
