#include "store/rocks/gateway/rocks_gateway_tables.hpp"

#include <rocksdb/db.h>

#include "store/rocks/gateway/gateway_codec.hpp"

namespace sluice {
namespace {

using rocks::Database;
using rocks::GatewayTable;
using rocks::to_error;

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

Unexpected<StoreError> unreadable(std::string_view bytes) {
    return Unexpected{rocks::unreadable_row("gateway", bytes, rocks::kGatewayRecord)};
}

class RocksGatewayTables final : public GatewayTables {
public:
    RocksGatewayTables(std::shared_ptr<rocks::Folder> folder,
                       std::shared_ptr<const rocks::GatewayTableSet> set)
        : folder_{std::move(folder)}, set_{std::move(set)}, opening_{folder_->opening()} {}

    Result<std::vector<std::optional<UserWindow>>, StoreError> users(std::span<const UserId> keys) override {
        return get<UserWindow>(
            GatewayTable::Users, keys, [](UserId user) { return rocks::user_key(user); },
            [](UserId, std::string_view bytes) { return rocks::decode_user(bytes); });
    }

    Result<std::vector<std::optional<RequestRow>>, StoreError> requests(
        std::span<const RequestKey> keys) override {
        return get<RequestRow>(GatewayTable::Requests, keys, rocks::request_key, rocks::decode_request);
    }

    Result<std::vector<std::optional<MessageRow>>, StoreError> messages(
        std::span<const MessageId> keys) override {
        return get<MessageRow>(
            GatewayTable::Messages, keys, [](const MessageId& id) { return id.text(); },
            [](const MessageId& id, std::string_view bytes) {
                return rocks::decode_message(id.text(), bytes);
            });
    }

    Result<std::vector<WaitingMessage>, StoreError> waiting(std::uint64_t from, std::size_t most) override {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        std::vector<WaitingMessage> found;
        const auto rows = outbox_rows(**opened);
        for (rows->Seek(slice(rocks::waiting_key(from))); rows->Valid() && found.size() < most;
             rows->Next()) {
            auto row = rocks::decode_waiting(view(rows->key()), view(rows->value()));
            if (!row) {
                return unreadable(view(rows->value()));
            }
            found.push_back(*std::move(row));
        }
        if (!rows->status().ok()) {
            return Unexpected{to_error("cannot scan", rows->status())};
        }
        return found;
    }

    Result<std::uint64_t, StoreError> next_number() override {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const auto rows = outbox_rows(**opened);
        rows->SeekToLast();
        if (!rows->status().ok()) {
            return Unexpected{to_error("cannot scan", rows->status())};
        }
        if (!rows->Valid()) {
            return std::uint64_t{0};
        }
        const auto last = rocks::decode_waiting(view(rows->key()), view(rows->value()));
        return last ? Result<std::uint64_t, StoreError>{last->number + 1} : unreadable(view(rows->value()));
    }

    Result<void, StoreError> commit(const GatewayChanges& changes) override {
        opening_ = folder_->opening();
        auto batch = folder_->begin();
        if (!batch) {
            return Unexpected{batch.error()};
        }
        set_->add(*batch, changes);
        return batch->commit();
    }

    // Unless somebody else has opened the folder again since it failed.
    Result<void, StoreError> reopen() override {
        auto reopened = folder_->reopen_after(opening_);
        opening_ = folder_->opening();
        return reopened;
    }

    [[nodiscard]] StoreRoom room() const override {
        const auto now = folder_->space();
        return now ? now->room() : StoreRoom::Enough;
    }

private:
    std::unique_ptr<rocksdb::Iterator> outbox_rows(const Database& database) const {
        return std::unique_ptr<rocksdb::Iterator>{
            database.db().NewIterator({}, set_->table(database, GatewayTable::Outbox))};
    }

    template <class Row, class Key, class Encode, class Decode>
    Result<std::vector<std::optional<Row>>, StoreError> get(GatewayTable table, std::span<const Key> keys,
                                                            Encode encode, Decode decode) {
        const auto opened = folder_->database();
        if (!opened) {
            return Unexpected{opened.error()};
        }
        const Database& database = **opened;
        std::vector<std::string> names;
        names.reserve(keys.size());
        for (const Key& key : keys) {
            names.push_back(encode(key));
        }
        const std::vector<rocksdb::Slice> slices{names.begin(), names.end()};
        std::vector<rocksdb::PinnableSlice> values(keys.size());
        std::vector<rocksdb::Status> states(keys.size());
        database.db().MultiGet({}, set_->table(database, table), slices.size(), slices.data(), values.data(),
                               states.data());
        std::vector<std::optional<Row>> result(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (states[i].IsNotFound()) {
                continue;
            }
            if (!states[i].ok()) {
                return Unexpected{to_error("cannot read the gateway's rows", states[i])};
            }
            result[i] = decode(keys[i], view(values[i]));
            if (!result[i]) {
                return unreadable(view(values[i]));
            }
        }
        return result;
    }

    const std::shared_ptr<rocks::Folder> folder_;  // Shared with other sets of tables.
    const std::shared_ptr<const rocks::GatewayTableSet> set_;
    std::uint64_t opening_;  // Of the folder, which was last written to.
};

}  // namespace

std::unique_ptr<GatewayTables> make_rocks_gateway_tables(std::shared_ptr<rocks::Folder> folder,
                                                         std::shared_ptr<const rocks::GatewayTableSet> set) {
    return std::make_unique<RocksGatewayTables>(std::move(folder), std::move(set));
}

}  // namespace sluice
