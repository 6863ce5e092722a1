#pragma once

#include <map>
#include <set>
#include <string>

#include <boost/json/object.hpp>

#include "door/http/route.hpp"

namespace sluice::http {

// The problems as fragments tell them, and the examples that openapi.json has of them.
class ProblemExamples {
public:
    // Adds a sentence to `faults` for whatever is wrong. It outlives the examples.
    explicit ProblemExamples(std::string& faults) : faults_{faults} {}

    // The problems of all fragments, by name.
    boost::json::object& told() { return told_; }

    // Notes that members of an answer are refused so.
    void occurs(std::string_view code) { codes_.emplace(code); }

    // The name of the problem's example, which is made when it is first asked for.
    std::string name_of(unsigned status, std::string_view code);

    // What the codes of the replies mean, one or the other.
    [[nodiscard]] std::string meaning_of(std::span<const Reply> replies) const;

    [[nodiscard]] const boost::json::object& examples() const { return examples_; }
    [[nodiscard]] const std::set<std::string>& codes() const { return codes_; }

    // Every problem must have been given by somebody.
    void complain_of_unused();

private:
    // "409 code", if that is told; otherwise "code". Empty when that is not told either.
    [[nodiscard]] std::string key_of(unsigned status, std::string_view code) const;

    std::string& faults_;
    boost::json::object told_;
    boost::json::object examples_;
    std::set<std::string> codes_;
    std::map<std::string, unsigned> statuses_;  // Of what is told and was asked for.
};

}  // namespace sluice::http
