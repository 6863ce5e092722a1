#include "main/doctor_postgres.hpp"

#include "base/time.hpp"
#include "main/settings_table.hpp"
#include "store/postgres/slots/postgres_slot_store.hpp"

namespace sluice {

void check_postgres(const std::string& dsn, bool count_again, Findings& findings) {
    const auto figures = examine_postgres_slots(dsn, count_again, SystemClock{});
    if (!figures) {
        findings.push_back(
            {"postgresql", false, figures.error(),
             "Check the address, the rights of the role, and that a server has started once."});
        return;
    }
    findings.push_back(
        {"postgresql", true, "It can be reached" + place_of(dsn) + ", and the schema is up to date."});
    for (const std::string& concern : figures->concerns) {
        findings.push_back({"postgresql", false, concern + ".", "See 'PostgreSQL' in docs/operations.md."});
    }
    if (count_again && figures->counters_wrong == 0) {
        findings.push_back({"recount", true, "Every counter is right."});
    } else if (count_again) {
        findings.push_back({"recount", false,
                            std::to_string(figures->counters_wrong) + " counters differ from their slots.",
                            "Look at 'select * from sluice.recount where counted <> recounted'."});
    }
}

}  // namespace sluice
