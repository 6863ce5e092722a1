#include "app/slots/command_group.hpp"

namespace sluice {
namespace {

void collect(const SlotCommand& command, std::vector<std::string_view>& ids) {
    std::visit(
        [&ids](const auto& one) {
            if constexpr (requires { one.events; }) {
                for (const AssignSlot& event : one.events) {
                    ids.push_back(event.event_id.text());
                }
            } else {
                ids.push_back(one.event_id.text());
            }
        },
        command);
}

}  // namespace

Result<CommandGroup, StoreError> CommandGroup::read(std::span<const SlotCommand> commands, SlotTables& tables,
                                                    const ConfigBook& book) {
    std::vector<std::string_view> ids;
    ids.reserve(commands.size());
    for (const SlotCommand& command : commands) {
        collect(command, ids);
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    auto found = tables.find(ids);
    if (!found) {
        return Unexpected{std::move(found).error()};
    }
    CommandGroup group;
    group.drafts_.reserve(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if ((*found)[i] && !book.knows((*found)[i]->config_id)) {
            return Unexpected{StoreError{"a slot names a config that does not exist"}};
        }
        group.drafts_.push_back({ids[i], EventDraft{std::move((*found)[i]), {}}});
    }
    return group;
}

}  // namespace sluice
