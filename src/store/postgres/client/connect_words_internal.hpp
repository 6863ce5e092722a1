#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/postgres/client/connection.hpp"

namespace sluice::postgres {

// What the settings amount to: the dsn's own words, what it leaves open, and the options of the session.
Result<ConnectWords, Failure> connect_words(const ConnectSettings& settings);

// The last option of a session, which tells that the others have arrived as well.
inline constexpr const char* kSessionMark = "sluice.session";

// SQL that sets what the options say: for a session whose options were dropped on the way.
std::string session_script(const ConnectSettings& settings);

// The same words for each of their hosts alone.
std::vector<ConnectWords> each_host(const ConnectWords& words);

// Takes one of several hosts out of the words. False when none would be left, or it is not among them.
bool leave_out_host(ConnectWords& words, std::string_view host, std::string_view port);

}  // namespace sluice::postgres
