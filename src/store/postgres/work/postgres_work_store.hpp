#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/log.hpp"
#include "store/postgres/client/server.hpp"
#include "store/postgres/client/shared_work_store.hpp"

namespace sluice {

// Whom a target reaches, or in one sentence why it reaches nobody. Work that came by SQL is routed when it is
// first looked at, by whoever looks.
// Thread safety: all of it.
using WorkRouter = std::function<Result<Route, std::string>(const Target&)>;

// Works on a PostgreSQL that any number of nodes share, and its clock decides. The store of slots on the same
// server is to be opened with it. `log` must outlive the store.
std::unique_ptr<postgres::SharedWorkStore> make_postgres_work_store(std::shared_ptr<postgres::Server> server,
                                                                    WorkRouter router, Log& log);

}  // namespace sluice
