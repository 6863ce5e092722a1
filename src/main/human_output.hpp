#pragma once

#include <string>
#include <string_view>

namespace sluice {

// JSON for people: an object's fields one a line with their values in a column, a list of objects as a table.
// Text that is not JSON comes back as it is.
std::string human_output(std::string_view text);

// What a refusal says, in one sentence: the title and detail of a problem document, or the status alone.
std::string problem_sentence(unsigned status, std::string_view body);

// A field of a JSON object, as text; empty when there is none.
std::string json_field(std::string_view text, std::string_view name);

}  // namespace sluice
