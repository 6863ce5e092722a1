// openapi.json is made of tables and fragments that fit together, or not at all.
#include "door/http/openapi_assembly.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::http {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

Response nothing(const Desk& /*desk*/, const Request& /*request*/) { return {}; }
std::string_view exact_words(const Problem& /*problem*/) { return "No"; }

constexpr std::array kReplies{
    gives(200, "Thing"),
    refuses(404, "thing_not_found"),
    refuses(409, "thing_not_found thing_in_use"),
};
constexpr std::array kRoutes{
    guarded({"PUT", "/things/{thing}", "putThing", nothing, kReplies, json_body("Thing", 2 * kBodyBytesMax)}),
};

// All problems of the door, each in the same words.
constexpr std::string_view kFragment = R"({
    "document": {"openapi": "3.0.3"},
    "tags": {"things": "Things."},
    "statuses": {"400": "Refused.", "503": "Later."},
    "operations": {"putThing": {
        "summary": "Put a thing",
        "description": ["In two", "lines."],
        "parameters": ["color"],
        "bodies": {"usual": {"name": "a"}},
        "answers": {"200": {"description": "The thing.", "example": {"name": "a"}}}}},
    "parameters": {
        "thing": {"name": "thing", "in": "path", "required": true, "schema": {"type": "string"}},
        "color": {"name": "color", "in": "query", "schema": {"type": "string"}}},
    "headers": {
        "Allow": {"schema": {"type": "string"}},
        "Retry-After": {"description": ["In", "seconds."], "schema": {"type": "integer"}},
        "WWW-Authenticate": {"schema": {"type": "string"}}},
    "problems": {
        "thing_not_found": {"means": "There is none.", "detail": "There is no thing 'a'."},
        "409 thing_not_found": {"means": "There is none left.", "detail": "There is no thing left."},
        "thing_in_use": {"means": "Somebody has it.", "detail": "Thing 'a' is in use."}},
    "schemas": {
        "Thing": {"type": "object", "additionalProperties": false},
        "Problem": {"type": "object", "properties": {"code": {"$ref": "#/components/schemas/ProblemCode"}}},
        "ProblemCode": {"type": "string"}}})";

class OpenapiAssembly : public ::testing::Test {
protected:
    OpenapiAssembly() : fragment_(json::parse({kFragment.data(), kFragment.size()})) {
        for (const char* code :
             {"malformed_request", "tls_required", "request_timeout", "uri_too_long", "headers_too_large",
              "encoding_not_supported", "overloaded", "version_not_supported", "not_found",
              "method_not_allowed", "token_required", "foreign_host", "too_many_tries", "body_too_large",
              "type_not_supported", "content_encoding_not_supported", "internal_error"}) {
            part_of("/problems")[code] = {{"means", "The door says so."}, {"detail", "So."}};
        }
    }

    json::object& part_of(const char* pointer) { return fragment_.at_pointer(pointer).as_object(); }

    Result<json::object, std::string> assembled(std::span<const Route> routes = kRoutes) const {
        const DescribedRoutes part{routes, fragment_.as_object()};
        return assemble_openapi({&part, 1});
    }
    json::value document(std::span<const Route> routes = kRoutes) const { return assembled(routes).value(); }
    std::string fault() const {
        const auto made = assembled();
        return made ? "none" : made.error();
    }

    json::value fragment_;
};

constexpr const char* kOperation = "/paths/~1things~1{thing}/put";

TEST_F(OpenapiAssembly, TakesWhatARouteIsFromItsTable) {
    const json::value all = document();
    const json::value& operation = all.at_pointer(kOperation);

    EXPECT_EQ(operation.at("operationId"), "putThing");
    EXPECT_EQ(operation.at("tags"), json::array{"admin"});
    EXPECT_EQ(operation.at_pointer("/security/0"), (json::object{{"bearer", json::array{}}}));
    EXPECT_EQ(operation.at_pointer("/parameters/0/$ref"), "#/components/parameters/thing");
    EXPECT_EQ(operation.at_pointer("/requestBody/description"), "At most 128 KiB.");
    EXPECT_EQ(operation.at_pointer("/requestBody/content/application~1json/schema/$ref"),
              "#/components/schemas/Thing");
}

TEST_F(OpenapiAssembly, TakesProseFromTheFragment) {
    const json::value all = document();
    const json::value& operation = all.at_pointer(kOperation);

    EXPECT_EQ(operation.at("summary"), "Put a thing");
    EXPECT_EQ(operation.at("description"), "In two lines.");
    EXPECT_EQ(operation.at_pointer("/parameters/1/$ref"), "#/components/parameters/color");
    EXPECT_EQ(operation.at_pointer("/responses/200/description"), "The thing.");
    EXPECT_EQ(operation.at_pointer("/responses/200/content/application~1json/example/name"), "a");
    EXPECT_EQ(all.at_pointer("/components/headers/Retry-After/description"), "In seconds.");
}

TEST_F(OpenapiAssembly, AddsWhatTheDoorAnswersForEveryRoute) {
    const json::value all = document();
    const json::value& responses = all.at_pointer(kOperation).at("responses");

    EXPECT_EQ(responses.at_pointer("/401/$ref"), "#/components/responses/TokenRequired");
    EXPECT_EQ(responses.at_pointer("/408/$ref"), "#/components/responses/RequestTimeout");
    EXPECT_EQ(responses.at_pointer("/503/$ref"), "#/components/responses/Overloaded");
    EXPECT_EQ(all.at_pointer("/components/responses/Overloaded/headers/Retry-After/$ref"),
              "#/components/headers/Retry-After");
    EXPECT_EQ(all.at_pointer("/components/responses/MalformedRequest/content/application~1problem+json/"
                             "examples/tls_required/$ref"),
              "#/components/examples/tls_required");
}

TEST_F(OpenapiAssembly, MakesAnExampleOfEveryProblemWithItsStatus) {
    const json::value all = document();

    EXPECT_EQ(all.at_pointer(kOperation).at_pointer("/responses/404/description"), "There is none.");
    EXPECT_EQ(all.at_pointer(kOperation).at_pointer("/responses/409/description"),
              "There is none left. Or: Somebody has it.");
    EXPECT_EQ(all.at_pointer("/components/examples/thing_not_found/value/status"), 404);
    EXPECT_EQ(all.at_pointer("/components/examples/thing_not_found_409/value/status"), 409);
    EXPECT_EQ(all.at_pointer("/components/examples/thing_not_found_409/value/code"), "thing_not_found");
    EXPECT_EQ(all.at_pointer("/components/examples/thing_in_use/value/title"), "Conflict");
    EXPECT_THAT(json::serialize(all.at_pointer("/components/schemas/ProblemCode/enum")),
                HasSubstr("\"thing_in_use\",\"thing_not_found\",\"tls_required\""));
}

TEST_F(OpenapiAssembly, TellsThatARouteHasItsOwnWordsForProblems) {
    std::array routes{kRoutes[0], kRoutes[0]};
    routes[1].path = "/words";
    routes[1].operation = "putWords";
    routes[1].error_text = exact_words;
    part_of("/operations")["putWords"] = {{"as", "putThing"}, {"summary", "Put words"}};

    const json::value all = document(routes);

    EXPECT_EQ(all.at_pointer("/paths/~1words/put/summary"), "Put words");
    EXPECT_EQ(all.at_pointer("/paths/~1words/put/description"), "In two lines.");
    for (const char* status : {"/400", "/404", "/503"}) {
        const json::value& response = all.at_pointer("/paths/~1words/put/responses").at_pointer(status);
        EXPECT_TRUE(response.at("content").as_object().contains("text/plain; charset=utf-8")) << status;
        EXPECT_EQ(response.at("content").as_object().size(), 1U) << status;
    }
}

TEST_F(OpenapiAssembly, RefusesARouteWithoutProse) {
    part_of("/operations").erase("putThing");

    EXPECT_THAT(fault(), HasSubstr("No fragment has the operation putThing."));
}

TEST_F(OpenapiAssembly, RefusesProseWithoutARoute) {
    part_of("/operations")["getThing"] = {{"as", "putThing"}};
    part_of("/operations/putThing/answers")["204"] = "Nothing.";

    EXPECT_THAT(fault(), HasSubstr("No route is the operation getThing."));
    EXPECT_THAT(fault(), HasSubstr("The fragment describes 204 of putThing, which does not give it."));
}

TEST_F(OpenapiAssembly, RefusesACodeThatIsNotDescribedOrThatNobodyGives) {
    part_of("/problems").erase("thing_in_use");
    part_of("/problems")["thing_lost"] = {{"means", "Lost."}, {"detail", "Lost."}};

    EXPECT_THAT(fault(), HasSubstr("No fragment has the problem thing_in_use."));
    EXPECT_THAT(fault(), HasSubstr("No route gives the problem thing_lost."));
}

TEST_F(OpenapiAssembly, RefusesACodeWithTwoStatusesInTheSameWords) {
    part_of("/problems").erase("409 thing_not_found");

    EXPECT_THAT(fault(), HasSubstr("The problem thing_not_found is given with two statuses"));
}

TEST_F(OpenapiAssembly, RefusesWhatIsReferredToAndMissingOrThereForNobody) {
    part_of("/schemas").erase("Thing");
    part_of("/schemas")["Spare"] = json::object{};

    EXPECT_THAT(fault(), HasSubstr("No fragment has /schemas/Thing."));
    EXPECT_THAT(fault(), HasSubstr("Nothing refers to /schemas/Spare."));
}

}  // namespace
}  // namespace sluice::http
