// Usage: assemble_openapi FOLDER OPENAPI.json OPENAPI.cpp
//
// Part of the build: makes the description of all routes from their tables and from the fragments in FOLDER
// (see openapi_assembly.hpp), as a file, and as the source of openapi_json().
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "door/http/openapi_assembly.hpp"
#include "main/part_table.hpp"

namespace {

namespace http = sluice::http;
namespace json = boost::json;

struct NamedRoutes {
    std::string_view name;
    std::span<const http::Route> (*routes)();
};

// Without what opens the parts: this tool is built before the daemon, and without its stores.
constexpr auto kRoutesOfParts = [] {
    std::array<NamedRoutes, sluice::kPartTable.size()> named{};
    std::ranges::transform(sluice::kPartTable, named.begin(), [](const sluice::PartPlan& part) {
        return NamedRoutes{part.name, part.routes};
    });
    return named;
}();

// Ends the build when the fragment cannot be read.
json::object read_fragment(const std::string& path) {
    std::ifstream file{path};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    boost::system::error_code error;
    const json::value fragment = json::parse(text, error);
    if (error || !fragment.is_object()) {
        std::cerr << path << " is not a JSON object: " << error.message() << "\n";
        std::exit(EXIT_FAILURE);
    }
    return fragment.get_object();
}

// For people too: what fits into a line is in one.
void append_pretty(std::string& text, const json::value& value, std::size_t depth) {
    constexpr std::size_t kWidth = 110;
    const std::string short_form = json::serialize(value);
    const bool is_long = 2 * depth + short_form.size() > kWidth;
    const std::string indent = "\n" + std::string(2 * depth + 2, ' ');
    if (const auto* object = value.if_object(); is_long && object != nullptr) {
        text += '{';
        for (const auto& [name, member] : *object) {
            text += (text.back() == '{' ? "" : ",") + indent + json::serialize(json::string{name}) + ": ";
            append_pretty(text, member, depth + 1);
        }
        text += "\n" + std::string(2 * depth, ' ') + '}';
    } else if (const auto* array = value.if_array(); is_long && array != nullptr) {
        text += '[';
        for (const json::value& member : *array) {
            text += (text.back() == '[' ? "" : ",") + indent;
            append_pretty(text, member, depth + 1);
        }
        text += "\n" + std::string(2 * depth, ' ') + ']';
    } else {
        text += short_form;
    }
}

}  // namespace

int main(int count, char** words) {
    if (count != 4) {
        std::cerr << "assemble_openapi FOLDER OPENAPI.json OPENAPI.cpp\n";
        return EXIT_FAILURE;
    }
    std::vector<http::DescribedRoutes> parts;
    const auto add = [&](std::string_view name, std::span<const http::Route> routes) {
        parts.push_back({routes, read_fragment(words[1] + ("/" + std::string{name}) + "_routes.json")});
    };
    add("server", http::server_routes());
    for (const NamedRoutes& part : kRoutesOfParts) {
        add(part.name, part.routes());
    }
    const auto document = http::assemble_openapi(parts);
    if (!document) {
        std::cerr << document.error();
        return EXIT_FAILURE;
    }
    std::string text;
    append_pretty(text, *document, 0);
    std::ofstream{words[2]} << text;
    std::ofstream source{words[3]};
    source << "#include \"door/http/openapi.hpp\"\n\n"
           << "std::string_view sluice::http::openapi_json() {\n    return R\"openapi(" << text
           << ")openapi\";\n}\n";
    return source.good() ? EXIT_SUCCESS : EXIT_FAILURE;
}
