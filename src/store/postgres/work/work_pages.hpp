#pragma once

#include "app/dispatch/work_store.hpp"
#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

// A page of works. States that stand in one lane are read from it; for the others at most kRowsReadMax rows
// are looked at for a page, which may therefore be empty and not the last.
Result<WorkPage, Failure> list_works(Connection& connection, const WorkFilter& filter);
inline constexpr std::size_t kRowsReadMax = 5000;

}  // namespace sluice::postgres
