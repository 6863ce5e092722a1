#pragma once

#include <span>
#include <string>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "door/http/route.hpp"

namespace sluice::http {

// The routes of a part, and what is said about them: its fragment. That has, each by name,
//   tags         the first one is that of the part's open routes
//   operations   prose for each route: summary, description, names of parameters, examples of the request's
//                body (bodies) and for each status a description or {description, example}; or {as}: the name
//                of another operation, whose prose holds where nothing else is said
//   problems     what each code means, and a detail as an example. "409 code" instead of "code" where it is
//                given with another status than usual
//   parameters, headers, schemas   as OpenAPI has them. A parameter in a path is named like its {place}
// and, in one of the fragments, document, securitySchemes and statuses, which says what 400 and the like mean
// where nothing else is said. A text may be an array of lines.
struct DescribedRoutes {
    std::span<const Route> routes;
    boost::json::object fragment;
};

// Makes the OpenAPI document of all parts. Fails, with a sentence in each line, when something that a route
// names is not described, or something is described that no route has.
Result<boost::json::object, std::string> assemble_openapi(std::span<const DescribedRoutes> parts);

}  // namespace sluice::http
