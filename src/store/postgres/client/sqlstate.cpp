#include "store/postgres/client/sqlstate.hpp"

#include <algorithm>
#include <array>

namespace sluice::postgres {
namespace {

struct Row {
    std::string_view code;  // Or the class that it begins with.
    Meaning meaning;
};

// Codes with SL are raised by the functions in sql/, where docs/sql.md explains those that applications meet.
constexpr auto kMeanings = std::to_array<Row>({
    {"08", Meaning::Passing},  // Not reached, or lost.
    {"53100", Meaning::DiskFull},
    {"53", Meaning::Passing},     // Full: connections, memory.
    {"40001", Meaning::Passing},  // Could not be made serial.
    {"57014", Meaning::Passing},  // Took too long.
    {"57P01", Meaning::Passing},  // Stopped.
    {"57P02", Meaning::Passing},  // Crashed.
    {"57P03", Meaning::Passing},  // Starting.
    {"25006", Meaning::ReadOnly},
    {"40P01", Meaning::Held},  // A deadlock was broken up.
    {"55P03", Meaning::Held},
    {"23514", Meaning::CheckFailed},
    {"26000", Meaning::NotPrepared},
    {"3F000", Meaning::NotThere},
    {"42501", Meaning::NoRights},
    {"42P01", Meaning::NotThere},
    {"42P05", Meaning::PreparedByOthers},
    {"SL400", Meaning::BadArgument},
    {"SL404", Meaning::UnknownConfig},
    {"SL405", Meaning::UnknownEvent},
    {"SL409", Meaning::Contended},
    {"SL410", Meaning::Cancelled},
    {"SL503", Meaning::Exhausted},
    {"SLFNC", Meaning::Fenced},
    {"SLPWS", Meaning::OtherWindowSize},
    {"SLWSU", Meaning::WindowSizeInUse},
    {"SLSNT", Meaning::AlreadyDispatched},
    {kStrayServer, Meaning::StrayServer},
    {kUnfitServer, Meaning::UnfitServer},
});

}  // namespace

Meaning meaning_of(std::string_view sqlstate) {
    const auto row =
        std::ranges::find_if(kMeanings, [&](const Row& each) { return sqlstate.starts_with(each.code); });
    return row == kMeanings.end() ? Meaning::Other : row->meaning;
}

bool is_own(std::string_view sqlstate) { return sqlstate.starts_with("SL"); }

}  // namespace sluice::postgres
