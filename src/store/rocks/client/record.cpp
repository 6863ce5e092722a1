#include "store/rocks/client/record.hpp"

#include "store/rocks/client/database.hpp"

namespace sluice::rocks {

StoreError unreadable_row(std::string_view table, std::string_view bytes, RecordVersion newest) {
    const RecordVersion version = read_record(bytes).version;
    const std::string row = "a row of table " + std::string{table};
    if (version <= newest) {
        return {row + " cannot be read"};
    }
    return {row + " has version " + std::to_string(version) +
                ", written by a newer Sluice; this one reads up to version " + std::to_string(newest),
            kNewerAdvice};
}

}  // namespace sluice::rocks
