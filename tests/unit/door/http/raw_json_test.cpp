#include "door/http/raw_json.hpp"

#include <random>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "door/http/strict_json.hpp"

namespace sluice::http {
namespace {

namespace json = boost::json;

json::value parsed(std::string_view text) { return json::parse({text.data(), text.size()}); }

TEST(RawJson, GivesAMemberAsItWasWritten) {
    const std::string_view text =
        "\n{ \"a\" : 1 , \"payload\"\t:  { \"x\" : [ 1.50 , \"}\\\"\" ] }  ,\"z\":2}";

    EXPECT_EQ(raw_member(text, "payload"), "{ \"x\" : [ 1.50 , \"}\\\"\" ] }");
    EXPECT_EQ(raw_member(text, "a"), "1");
    EXPECT_EQ(raw_member(text, "z"), "2");
    EXPECT_EQ(raw_member(text, "x"), "");
}

TEST(RawJson, KnowsAKeyByWhatItSays) {
    EXPECT_EQ(raw_member(R"({"pay":1,"pay\u006coad":"\u0041"})", "payload"), R"("\u0041")");
    EXPECT_EQ(raw_member(R"({"\u0070ayloa":1,"payload":2})", "payload"), "2");
    EXPECT_EQ(raw_member(R"({"a\"b":1,"b":2})", "b"), "2");
}

TEST(RawJson, FindsNothingWhereNothingIs) {
    EXPECT_EQ(raw_member("{}", "a"), "");
    EXPECT_EQ(raw_member(" { } ", "a"), "");
    EXPECT_EQ(raw_member("[1]", "a"), "");
    EXPECT_TRUE(raw_elements("[ ]").empty());
    EXPECT_TRUE(raw_elements("{\"a\":[1]}").empty());
}

TEST(RawJson, GivesTheElementsInOrder) {
    EXPECT_EQ(raw_elements(" [ 1 ,{\"a\":[2,3]}, \"]\" ,[ ],null ] "),
              (std::vector<std::string_view>{"1", "{\"a\":[2,3]}", "\"]\"", "[ ]", "null"}));
}

// Writes JSON in all the ways there are to write it.
class Writer {
public:
    explicit Writer(unsigned seed) : random_{seed} {}

    std::string value(int depth) {
        switch (below(depth > 0 ? 6 : 4)) {
            case 0: return number();
            case 1: return string();
            case 2: return below(2) == 0 ? "null" : "true";
            case 3: return "false";
            case 4: return array(depth - 1);
            default: return object(depth - 1);
        }
    }
    std::string object(int depth) {
        std::string text = "{" + space();
        for (unsigned i = 0, size = below(5); i < size; ++i) {
            text += (i == 0 ? "" : "," + space()) + key(i) + space() + ":" + space() + value(depth) + space();
        }
        return text + "}";
    }
    std::string array(int depth) {
        std::string text = "[" + space();
        for (unsigned i = 0, size = below(5); i < size; ++i) {
            text += (i == 0 ? "" : "," + space()) + value(depth) + space();
        }
        return text + "]";
    }
    std::string space() {
        std::string text;
        for (unsigned i = below(3); i > 0; --i) {
            text += " \t\r\n"[below(4)];
        }
        return text;
    }

private:
    unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
    std::string number() {
        static const std::vector<std::string> kNumbers{"0",    "-1",      "1.50",
                                                       "1E+2", "-0.0e-3", "18446744073709551616"};
        return kNumbers[below(6)];
    }
    std::string string() {
        static const std::vector<std::string> kPieces{
            "a", "\\\"", "\\\\", "{", "}", "[", "]", ",", ":", " ", "é", "\\u0041", "\\n", "\\ud83d\\ude00"};
        std::string text = "\"";
        for (unsigned i = below(6); i > 0; --i) {
            text += kPieces[below(static_cast<unsigned>(kPieces.size()))];
        }
        return text + "\"";
    }
    // Distinct ones, some escaped.
    std::string key(unsigned number) {
        const std::string digit = std::to_string(number);
        return below(2) == 0 ? "\"k" + digit + "\"" : "\"\\u006b\\u003" + digit + "\"";
    }

    std::mt19937 random_;
};

TEST(RawJson, AgreesWithAParserOnWhateverIsWritten) {
    for (unsigned seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Writer writer{seed};
        const std::string object = writer.space() + writer.object(4) + writer.space();
        const std::string array = writer.space() + writer.array(4) + writer.space();

        const json::value fields = parsed(object);
        for (const auto& [name, value] : fields.as_object()) {
            const std::string_view raw = raw_member(object, {name.data(), name.size()});
            ASSERT_FALSE(raw.empty()) << object;
            EXPECT_EQ(parsed(raw), value) << object;
            EXPECT_EQ(raw.find_first_of(" \t\r\n"), raw.find_first_of(" \t\r\n", 1)) << "begins with space";
        }
        const json::value elements = parsed(array);
        const auto raw = raw_elements(array);
        ASSERT_EQ(raw.size(), elements.as_array().size()) << array;
        for (std::size_t i = 0; i < raw.size(); ++i) {
            EXPECT_EQ(parsed(raw[i]), elements.as_array()[i]) << array;
        }
    }
}

TEST(StrictJson, TakesNumbersOfAnySize) {
    for (const std::string number :
         {"1e400", "-1e400", "1e-400", "18446744073709551616", "1e99999999999", "1E+99999999999999999999",
          "1e-99999999999", "0.1e0000000000000000000000000001"}) {
        json::monotonic_resource memory;
        const std::string text = R"({"payload":[")" + number + R"(",)" + number + R"(,"e99999999999"]})";

        const auto value = parse_strict_json(text, &memory);

        ASSERT_TRUE(value) << number;
        EXPECT_EQ(value->at("payload").at(0).as_string(), number);
        EXPECT_EQ(value->at("payload").at(2).as_string(), "e99999999999");
        EXPECT_EQ(raw_elements(raw_member(text, "payload")).at(1), number);
    }
    json::monotonic_resource memory;
    EXPECT_TRUE(
        parse_strict_json("[" + std::string(5000, '7') + "." + std::string(5000, '7') + "]", &memory));
    for (const char* wrong : {"[1e99999999999,]", "[1e99999999999e5]", "[e99999999999]", "[1e]"}) {
        EXPECT_FALSE(parse_strict_json(wrong, &memory)) << wrong;
    }
}

}  // namespace
}  // namespace sluice::http
