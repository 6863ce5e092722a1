#include "main/version.hpp"

namespace sluice {

// The build names the version, in this file only, so that a new one compiles nothing else again.
std::string_view version() { return SLUICE_VERSION; }

}  // namespace sluice
