#include "main/human_output.hpp"

#include <algorithm>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/utf8_walk.hpp"

namespace sluice {
namespace {

namespace json = boost::json;
using Row = std::vector<std::string>;

// What another program sent must not steer the terminal.
std::string shown(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const Utf8Step step = next_character(text);
        safe += step.valid && !step.control() ? step.bytes : std::string_view{"?"};
        text.remove_prefix(step.bytes.size());
    }
    return safe;
}

std::string cell(const json::value& value) {
    if (const auto* text = value.if_string()) {
        return shown({text->data(), text->size()});
    }
    const auto* object = value.if_object();
    const auto* code = object == nullptr ? nullptr : object->if_contains("code");
    const auto* detail = object == nullptr ? nullptr : object->if_contains("detail");
    if (code != nullptr && detail != nullptr) {  // An error in a list of results.
        return cell(*code) + ": " + cell(*detail);
    }
    const auto* list = value.if_array();
    const bool nothing = value.is_null() || (list != nullptr && list->empty());
    return nothing ? "-" : shown(json::serialize(value));
}

std::string table(const std::vector<Row>& rows, std::string_view indent) {
    std::vector<std::size_t> widths;
    for (const Row& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const Row& row : rows) {
        std::string line{indent};
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            if (i + 1 < row.size()) {
                line.append(widths[i] - row[i].size() + 2, ' ');
            }
        }
        text += line + "\n";
    }
    return text;
}

bool is_list_of_objects(const json::value& value) {
    const auto* list = value.if_array();
    return list != nullptr && !list->empty() &&
           std::all_of(list->begin(), list->end(), [](const auto& one) { return one.is_object(); });
}

std::string list_text(const json::array& list) {
    Row header;
    for (const json::value& item : list) {
        for (const auto& field : item.get_object()) {
            if (std::find(header.begin(), header.end(), field.key()) == header.end()) {
                header.emplace_back(field.key());
            }
        }
    }
    std::vector<Row> rows{header};
    for (const json::value& item : list) {
        Row row;
        for (const std::string& name : header) {
            const json::value* value = item.get_object().if_contains(name);
            row.push_back(value == nullptr ? "-" : cell(*value));
        }
        rows.push_back(std::move(row));
    }
    return table(rows, "  ");
}

std::string object_text(const json::object& object) {
    std::vector<Row> rows;
    std::string lists;
    for (const auto& field : object) {
        if (is_list_of_objects(field.value())) {
            lists += std::string{field.key()} + ":\n" + list_text(field.value().get_array());
        } else {
            rows.push_back({std::string{field.key()}, cell(field.value())});
        }
    }
    return table(rows, "") + lists;
}

json::value parsed(std::string_view text) {
    boost::system::error_code error;
    json::value value = json::parse({text.data(), text.size()}, error);
    return error ? json::value{} : value;
}

}  // namespace

std::string human_output(std::string_view text) {
    const json::value value = parsed(text);
    if (const auto* object = value.if_object()) {
        return object_text(*object);
    }
    return shown(text) + "\n";
}

std::string json_field(std::string_view text, std::string_view name) {
    const json::value value = parsed(text);
    const auto* object = value.if_object();
    const auto* field = object == nullptr ? nullptr : object->if_contains({name.data(), name.size()});
    return field == nullptr ? std::string{} : cell(*field);
}

std::string problem_sentence(unsigned status, std::string_view body) {
    const std::string title = json_field(body, "title");
    const std::string detail = json_field(body, "detail");
    const std::string answer = "The server answered " + std::to_string(status);
    if (title.empty() && detail.empty()) {
        return answer + ".";
    }
    std::string sentence = answer + ": " + title;
    if (!detail.empty() && detail != title) {
        sentence += (title.empty() ? "" : ": ") + detail;
    }
    sentence += sentence.ends_with('.') || sentence.ends_with('?') ? "" : ".";
    return sentence + (status == 401 ? " --token-file or SLUICE_TOKEN_FILE gives the server's own." : "");
}

}  // namespace sluice
