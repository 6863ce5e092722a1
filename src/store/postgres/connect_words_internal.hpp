#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "store/postgres/connection.hpp"

namespace sluice::postgres {

// libpq's connection parameters by keyword.
using ConnectWords = std::map<std::string, std::string>;

// What the settings amount to: the dsn's own words, what it leaves open, and the options of the session.
Result<ConnectWords, Failure> connect_words(const ConnectSettings& settings);

}  // namespace sluice::postgres
