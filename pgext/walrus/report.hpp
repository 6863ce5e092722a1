#pragma once

#include "json_text.hpp"

namespace sluice::walrus {

// The members of walrus.status(). Needs an open transaction.
void describe_status(JsonText& json);

// walrus.metrics(): the text format that Prometheus reads.
const char* metrics_text();

}  // namespace sluice::walrus
