#pragma once

#include <cstdio>
#include <memory>

#include "app/gateway/outbox.hpp"
#include "main/settings.hpp"

namespace sluice {

// Sends messages by writing a line for each, "SMS Sent: {userId}: {message}", among those of the log and
// looking like them, but not through its queue, which may drop lines: a message is sent when its line is
// written. So it does not depend on the level of the log either. `clock` outlives it; `file` too.
std::unique_ptr<MessageOutlet> make_message_lines(LogFormat format, const Clock& clock,
                                                  std::FILE* file = stderr);

}  // namespace sluice
