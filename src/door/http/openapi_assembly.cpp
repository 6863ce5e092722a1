#include "door/http/openapi_assembly.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <boost/json/array.hpp>

#include "door/http/declared_replies.hpp"
#include "door/http/fragment_text.hpp"
#include "door/http/problem_examples.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 3> kFromFragments{"parameters", "headers", "schemas"};

// body_too_large as BodyTooLarge.
std::string in_capitals(std::string_view code) {
    std::string name;
    for (std::size_t i = 0; i < code.size(); ++i) {
        const bool first = i == 0 || code[i - 1] == '_';
        if (code[i] != '_') {
            name += first ? static_cast<char>(code[i] - 'a' + 'A') : code[i];
        }
    }
    return name;
}

std::string body_limit(std::size_t bytes) {
    constexpr std::size_t kMebibyte = 1024 * 1024;
    return "At most " + (bytes < kMebibyte ? std::to_string(bytes / 1024) + " KiB."
                                           : std::to_string(bytes / kMebibyte) + " MiB.");
}

void join_descriptions(json::value& value) {
    if (auto* object = value.if_object()) {
        for (auto& [name, member] : *object) {
            if (name == "description") {
                member = text_of(member);
            } else if (name != "example") {
                join_descriptions(member);
            }
        }
    } else if (auto* array = value.if_array()) {
        std::for_each(array->begin(), array->end(), join_descriptions);
    }
}

// Every reference below `value`, as JSON pointers into the components.
void collect_references(const json::value& value, std::set<std::string>& found) {
    constexpr std::size_t kPrefix = std::string_view{"#/components"}.size();
    if (const auto* object = value.if_object()) {
        for (const auto& [name, member] : *object) {
            if (name == "$ref") {
                found.insert(text_of(member).substr(kPrefix));
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

// Everything that is said about one status of a route.
struct Status {
    std::vector<Reply> replies;
    bool of_the_door = true;  // No reply is the route's own.
};

class Assembly {
public:
    explicit Assembly(std::span<const DescribedRoutes> parts) : parts_{parts} {}

    Result<json::object, std::string> run() {
        for (const DescribedRoutes& part : parts_) {
            take_fragment(part.fragment);
        }
        for (const DescribedRoutes& part : parts_) {
            for (const Route& route : part.routes) {
                describe(part, route);
            }
        }
        for (const Reply& reply : door_replies(nullptr)) {
            response_of_the_door({&reply, 1});
        }
        json::object document = put_together();
        complain_of_references(document);
        return faults_.empty() ? Result<json::object, std::string>{std::move(document)}
                               : Unexpected{std::move(faults_)};
    }

private:
    void fault(const std::string& sentence) { faults_ += sentence + "\n"; }

    void take_fragment(const json::object& fragment) {
        for (const std::string_view kind : kFromFragments) {
            take(fragment, kind,
                 components_[in_json(kind)].is_null() ? components_[in_json(kind)].emplace_object()
                                                      : components_[in_json(kind)].get_object());
        }
        take(fragment, "operations", prose_);
        take(fragment, "problems", problems_.told());
        take(fragment, "statuses", statuses_);
        take(fragment, "document", document_);
        take(fragment, "securitySchemes", security_);
        if (const auto* tags = fragment.if_contains("tags")) {
            for (const auto& [name, says] : tags->as_object()) {
                tags_.push_back(json::object{{"name", name}, {"description", text_of(says)}});
            }
        }
    }

    void take(const json::object& fragment, std::string_view key, json::object& into) {
        const auto* found = fragment.if_contains(in_json(key));
        if (found == nullptr) {
            return;
        }
        for (const auto& [name, value] : found->as_object()) {
            json::value own = value;
            if (key != "operations" && key != "problems") {
                join_descriptions(own);
            }
            if (!into.emplace(name, std::move(own)).second) {
                fault("Two fragments have " + std::string{name} + " among their " + std::string{key} + ".");
            }
        }
    }

    // The prose of an operation; empty when there is none.
    json::object prose_of(std::string_view operation) {
        const auto* found = prose_.if_contains(in_json(operation));
        if (found == nullptr) {
            fault("No fragment has the operation " + std::string{operation} + ".");
            return {};
        }
        described_.emplace(operation);
        json::object prose = found->as_object();
        if (const auto* other = prose.if_contains("as")) {
            for (const auto& [key, text] : prose_of(from_json(other->as_string()))) {
                prose.emplace(key, text);
            }
        }
        return prose;
    }

    void describe(const DescribedRoutes& part, const Route& route) {
        const json::object prose = prose_of(route.operation);
        const bool admin = route.access == Access::Admin;
        json::object operation{{"operationId", in_json(route.operation)},
                               {"tags", {admin ? json::string{"admin"} : json::string{first_tag(part)}}}};
        for (const std::string_view key : {"summary", "description"}) {
            if (const auto* text = prose.if_contains(in_json(key))) {
                operation[in_json(key)] = text_of(*text);
            }
        }
        if (admin) {
            operation["security"] = {json::object{{"bearer", json::array{}}}, json::object{}};
        }
        if (json::array all = parameters(route, prose); !all.empty()) {
            operation["parameters"] = std::move(all);
        }
        if (route.body.kind != BodyKind::None) {
            operation["requestBody"] = request_body(route, prose);
        }
        operation["responses"] = responses(route, prose);
        std::string method{route.method};
        std::ranges::transform(method, method.begin(), [](char c) { return static_cast<char>(c | 0x20); });
        auto& path = paths_[in_json(route.path)];
        (path.is_null() ? path.emplace_object() : path.get_object())[method] = std::move(operation);
    }

    static json::string_view first_tag(const DescribedRoutes& part) {
        const auto* tags = part.fragment.if_contains("tags");
        return tags == nullptr || tags->as_object().empty() ? json::string_view{}
                                                            : tags->as_object().begin()->key();
    }

    static json::array parameters(const Route& route, const json::object& prose) {
        json::array all;
        if (const auto open = route.path.find('{'); open != std::string_view::npos) {
            const auto close = route.path.find('}');
            all.push_back(reference("parameters", route.path.substr(open + 1, close - open - 1)));
        }
        if (const auto* names = prose.if_contains("parameters")) {
            for (const json::value& name : names->as_array()) {
                all.push_back(reference("parameters", from_json(name.as_string())));
            }
        }
        return all;
    }

    static json::object request_body(const Route& route, const json::object& prose) {
        const bool lines = route.body.kind == BodyKind::Lines;
        json::object media{{"schema", reference("schemas", route.body.schema)}};
        if (const auto* bodies = prose.if_contains("bodies")) {
            json::object examples;
            for (const auto& [name, value] : bodies->as_object()) {
                examples[name] = json::object{{"value", value}};
            }
            media["examples"] = std::move(examples);
        }
        const auto* says = prose.if_contains("body");
        return {{"description", says == nullptr ? body_limit(route.body.max) : text_of(*says)},
                {"required", !lines},
                {"content",
                 json::object{{lines ? "application/x-ndjson" : "application/json", std::move(media)}}}};
    }

    json::object responses(const Route& route, const json::object& prose) {
        std::map<unsigned, Status> by_status;
        for (const Reply& reply : route.replies) {
            by_status[reply.status].replies.push_back(reply);
            by_status[reply.status].of_the_door = false;
        }
        for (const Reply& reply : door_replies(&route)) {
            by_status[reply.status].replies.push_back(reply);
        }
        json::object all;
        for (const auto& [status, told] : by_status) {
            const std::string number = std::to_string(status);
            const json::value* says = said_of(prose, number);
            const bool shared = told.of_the_door && says == nullptr && route.error_text == nullptr;
            all[number] = shared ? response_of_the_door(told.replies) : response(route, told.replies, says);
        }
        complain_of_other_statuses(route, prose, all);
        return all;
    }

    static const json::value* said_of(const json::object& prose, const std::string& status) {
        const auto* answers = prose.if_contains("answers");
        return answers == nullptr ? nullptr : answers->as_object().if_contains(status);
    }

    void complain_of_other_statuses(const Route& route, const json::object& prose, const json::object& all) {
        if (const auto* answers = prose.if_contains("answers")) {
            for (const auto& [status, says] : answers->as_object()) {
                if (!all.contains(status)) {
                    fault("The fragment describes " + std::string{status} + " of " +
                          std::string{route.operation} + ", which does not give it.");
                }
            }
        }
    }

    // A reference to what all routes have in common.
    json::object response_of_the_door(std::span<const Reply> replies) {
        const std::string_view codes = replies.front().codes;
        const std::string name = in_capitals(codes.substr(0, codes.find(' ')));
        if (!components_["responses"].is_object()) {
            components_["responses"].emplace_object();
        }
        if (!components_["responses"].get_object().contains(name)) {
            json::object made = response(Route{}, replies, nullptr);
            components_["responses"].get_object()[name] = std::move(made);
        }
        return reference("responses", name);
    }

    json::object response(const Route& route, std::span<const Reply> replies, const json::value* says) {
        const auto* whole = says == nullptr ? nullptr : says->if_object();
        const auto* example = whole == nullptr ? nullptr : whole->if_contains("example");
        const auto* description = whole == nullptr ? says : whole->if_contains("description");
        const unsigned status = replies.front().status;
        json::object made{
            {"description", description == nullptr ? usual_words(status, replies) : text_of(*description)}};
        json::object headers;
        json::object content;
        for (const Reply& reply : replies) {
            for_each_word(reply.headers, [&](std::string_view name) {
                headers[in_json(name)] = reference("headers", name);
            });
            if (!reply.schema.empty()) {
                json::object media{{"schema", reference("schemas", reply.schema)}};
                if (example != nullptr) {
                    media["example"] = *example;
                }
                content[in_json(reply.type)] = std::move(media);
                for_each_word(reply.codes, [&](std::string_view code) { problems_.occurs(code); });
            } else if (route.error_text != nullptr) {
                content["text/plain; charset=utf-8"] = json::object{{"schema", {{"type", "string"}}}};
            } else if (!reply.codes.empty()) {
                add_problems(content[in_json(reply.type)], reply);
            }
        }
        if (status == 429 || status == 503) {
            headers["Retry-After"] = reference("headers", "Retry-After");
        }
        if (!headers.empty()) {
            made["headers"] = std::move(headers);
        }
        if (!content.empty()) {
            made["content"] = std::move(content);
        }
        return made;
    }

    void add_problems(json::value& media, const Reply& reply) {
        if (media.is_null()) {
            media = {{"schema", reference("schemas", "Problem")}, {"examples", json::object{}}};
        }
        for_each_word(reply.codes, [&](std::string_view code) {
            const std::string name = problems_.name_of(reply.status, code);
            media.at("examples").as_object()[name] = reference("examples", name);
        });
    }

    // What a status means where the operation says nothing of it.
    std::string usual_words(unsigned status, std::span<const Reply> replies) {
        if (const auto* usual = statuses_.if_contains(std::to_string(status))) {
            return text_of(*usual);
        }
        std::string words = problems_.meaning_of(replies);
        if (words.empty()) {
            fault("Nothing says what " + std::to_string(status) + " means.");
        }
        return words;
    }

    json::object put_together() {
        if (auto* code = components_["schemas"].as_object().if_contains("ProblemCode")) {
            const auto& codes = problems_.codes();
            code->as_object()["enum"] = json::array(codes.begin(), codes.end());
        }
        components_["examples"] = problems_.examples();
        components_["securitySchemes"] = security_;
        json::object document = document_;
        document["tags"] = tags_;
        document["paths"] = paths_;
        document["components"] = components_;
        return document;
    }

    // Whatever is described is referred to, and the other way round.
    void complain_of_references(const json::object& document) {
        std::set<std::string> pointers;
        collect_references(document, pointers);
        const json::value all(components_);
        for (const std::string& pointer : pointers) {
            boost::system::error_code error;
            if (all.find_pointer(pointer, error) == nullptr) {
                fault("No fragment has " + pointer + ".");
            }
        }
        for (const std::string_view kind : kFromFragments) {
            for (const auto& [name, value] : components_.at(in_json(kind)).as_object()) {
                if (const std::string own = "/" + std::string{kind} + "/" + std::string{name};
                    !pointers.contains(own)) {
                    fault("Nothing refers to " + own + ".");
                }
            }
        }
        for (const auto& [name, prose] : prose_) {
            if (!described_.contains(std::string{name})) {
                fault("No route is the operation " + std::string{name} + ".");
            }
        }
        problems_.complain_of_unused();
    }

    std::span<const DescribedRoutes> parts_;
    json::object document_;
    json::object security_;
    json::object prose_;
    json::object statuses_;
    json::object components_;
    json::object paths_;
    json::array tags_;
    std::set<std::string> described_;  // Operations.
    std::string faults_;
    ProblemExamples problems_{faults_};
};

}  // namespace

Result<json::object, std::string> assemble_openapi(std::span<const DescribedRoutes> parts) {
    return Assembly{parts}.run();
}

}  // namespace sluice::http
