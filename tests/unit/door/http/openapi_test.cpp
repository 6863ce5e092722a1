// The description that the server gives of itself: complete, and nothing beside it.
#include "door/http/openapi.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "door/http/dispatch_desk.hpp"
#include "door/http/gateway_desk.hpp"
#include "door/http/limit_desk.hpp"
#include "door/http/server_desk.hpp"
#include "door/http/slot_desk.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;
using ::testing::Contains;
using ::testing::Not;

// A method in capitals and a path with its {places}.
using Key = std::pair<std::string, std::string>;

std::string text_of(const json::value& value) { return std::string{std::string_view{value.as_string()}}; }

class Openapi : public ::testing::Test {
protected:
    // In round brackets: curly ones would make an array of one value.
    Openapi() : document_(json::parse({openapi_json().data(), openapi_json().size()})) {
        const std::map<std::string, std::string> methods{
            {"get", "GET"},         {"put", "PUT"},   {"post", "POST"},   {"delete", "DELETE"},
            {"options", "OPTIONS"}, {"head", "HEAD"}, {"patch", "PATCH"}, {"trace", "TRACE"}};
        for (const auto& [path, item] : document_.at("paths").as_object()) {
            for (const auto& [name, content] : item.as_object()) {
                if (const auto method = methods.find(std::string{name}); method != methods.end()) {
                    operations_.emplace(Key{method->second, std::string{path}}, &content.as_object());
                }
            }
        }
    }

    // The thing itself, where a reference stands for it. References of references do not occur.
    const json::object& resolved(const json::value& value) const {
        const auto* reference = value.as_object().if_contains("$ref");
        if (reference == nullptr) {
            return value.as_object();
        }
        // "#/components/responses/NotFound" is the pointer behind the mark.
        return document_.at_pointer(text_of(*reference).substr(1)).as_object();
    }

    // In whichever words: a problem document, or the exact text of the route.
    bool tells_a_problem(json::string_view status, const json::value& response) const {
        const auto* content = resolved(response).if_contains("content");
        return status.front() >= '4' && content != nullptr &&
               (content->as_object().contains("application/problem+json") ||
                content->as_object().contains("text/plain; charset=utf-8"));
    }

    // Every reference below `value`, as JSON pointers.
    static void collect_references(const json::value& value, std::vector<std::string>& found) {
        if (const auto* object = value.if_object()) {
            for (const auto& [name, member] : *object) {
                if (name == "$ref") {
                    found.push_back(text_of(member).substr(1));
                } else {
                    collect_references(member, found);
                }
            }
        } else if (const auto* array = value.if_array()) {
            for (const json::value& item : *array) {
                collect_references(item, found);
            }
        }
    }

    static std::vector<Route> served_routes() {
        std::vector<Route> all;
        for (const auto routes :
             {slot_routes(), dispatch_routes(), gateway_routes(), limit_routes(), server_routes()}) {
            all.insert(all.end(), routes.begin(), routes.end());
        }
        return all;
    }

    const std::vector<Route> routes_ = served_routes();
    json::value document_;
    std::map<Key, const json::object*> operations_;
};

TEST_F(Openapi, IsOfAVersionThatToolsRead) { EXPECT_EQ(text_of(document_.at("openapi")), "3.0.3"); }

TEST_F(Openapi, DescribesEveryRouteAndNothingElse) {
    std::set<Key> served;
    for (const Route& route : routes_) {
        served.emplace(route.method, route.path);
    }

    std::set<Key> described;
    for (const auto& [key, operation] : operations_) {
        described.insert(key);
    }

    EXPECT_EQ(described, served);
}

TEST_F(Openapi, GivesEveryOperationAnIdOfItsOwn) {
    std::set<std::string> ids;

    for (const auto& [key, operation] : operations_) {
        ASSERT_TRUE(operation->contains("operationId")) << key.first << " " << key.second;
        ids.insert(text_of(operation->at("operationId")));
    }

    EXPECT_EQ(ids.size(), operations_.size());
    EXPECT_THAT(ids, Not(Contains("")));
}

TEST_F(Openapi, NamesASuccessAndAProblemForEveryOperation) {
    for (const auto& [key, operation] : operations_) {
        bool success = false;
        bool problem = false;
        for (const auto& [status, response] : operation->at("responses").as_object()) {
            success = success || status.starts_with('2');
            problem = problem || tells_a_problem(status, response);
        }

        EXPECT_TRUE(success) << key.first << " " << key.second;
        EXPECT_TRUE(problem) << key.first << " " << key.second;
    }
}

TEST_F(Openapi, TellsWhichRoutesTakeABodyAndOfWhichType) {
    for (const Route& route : routes_) {
        const auto found = operations_.find({std::string{route.method}, std::string{route.path}});
        ASSERT_NE(found, operations_.end()) << route.path;
        const auto* body = found->second->if_contains("requestBody");

        ASSERT_EQ(body != nullptr, route.body.kind != BodyKind::None) << route.path;
        if (body != nullptr) {
            const char* type =
                route.body.kind == BodyKind::Lines ? "application/x-ndjson" : "application/json";
            EXPECT_TRUE(body->at("content").as_object().contains(type)) << route.path;
        }
        if (route.body.kind == BodyKind::Json) {
            const json::object& schema = resolved(body->at("content").at("application/json").at("schema"));
            // Whoever has words of its own also ignores what it does not know.
            EXPECT_EQ(schema.at("additionalProperties").as_bool(), route.error_text != nullptr) << route.path;
        }
        const bool checks_type = found->second->at("responses").as_object().contains("415");
        EXPECT_EQ(checks_type, route.body.kind != BodyKind::None) << route.path;
    }
}

TEST_F(Openapi, TellsWhichRoutesNeedAToken) {
    for (const Route& route : routes_) {
        const auto found = operations_.find({std::string{route.method}, std::string{route.path}});
        ASSERT_NE(found, operations_.end()) << route.path;
        const bool guarded = route.access == Access::Admin;

        EXPECT_EQ(found->second->contains("security"), guarded) << route.path;
        EXPECT_EQ(found->second->at("responses").as_object().contains("401"), guarded) << route.path;
        EXPECT_EQ(found->second->at("responses").as_object().contains("403"), guarded) << route.path;
    }
}

TEST_F(Openapi, GivesProblemsThatCarryTheStatusTheyStandUnder) {
    for (const auto& [key, operation] : operations_) {
        for (const auto& [status, response] : operation->at("responses").as_object()) {
            const auto* content = resolved(response).if_contains("content");
            const auto* media =
                content == nullptr ? nullptr : content->as_object().if_contains("application/problem+json");
            if (media == nullptr) {
                continue;
            }
            for (const auto& [name, example] : media->at("examples").as_object()) {
                const json::value& told = resolved(example).at("value").at("status");
                EXPECT_EQ(std::to_string(told.as_int64()), std::string{status}) << key.second << " " << name;
            }
        }
    }
}

TEST_F(Openapi, RefersOnlyToWhatIsThere) {
    std::vector<std::string> pointers;
    collect_references(document_, pointers);

    EXPECT_FALSE(pointers.empty());
    for (const std::string& pointer : pointers) {
        boost::system::error_code error;
        EXPECT_NE(document_.find_pointer(pointer, error), nullptr) << pointer;
    }
}

}  // namespace
}  // namespace sluice::http
