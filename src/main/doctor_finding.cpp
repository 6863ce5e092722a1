#include "main/doctor_finding.hpp"

#include <algorithm>

#include "base/json_text.hpp"

namespace sluice {

bool all_well(const Findings& findings) {
    return std::all_of(findings.begin(), findings.end(), [](const Finding& each) { return each.well; });
}

std::string findings_json(const Findings& findings) {
    std::string list;
    for (const Finding& finding : findings) {
        list += list.empty() ? "" : ",";
        list += JsonObject{}
                    .text("part", finding.part)
                    .raw("ok", finding.well ? "true" : "false")
                    .text("detail", finding.detail)
                    .text("advice", finding.advice)
                    .done();
    }
    return JsonObject{}
               .raw("ok", all_well(findings) ? "true" : "false")
               .raw("checks", "[" + list + "]")
               .done() +
           "\n";
}

std::string findings_text(const Findings& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        const char* const mark = !finding.well ? "FAIL  " : finding.advice.empty() ? "ok    " : "note  ";
        text += mark + finding.part + ": " + finding.detail + "\n";
        if (!finding.advice.empty()) {
            text += "      -> " + finding.advice + "\n";
        }
    }
    return text;
}

}  // namespace sluice
