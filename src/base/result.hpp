#pragma once

// Part of the public library, which must not include anything of the project.
#include <sluice/result.hpp>
