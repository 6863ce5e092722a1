// Which settings hold for which URL.
#include "carry/webhook/endpoint_book.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::webhook {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class EndpointBookOf : public ::testing::Test {
protected:
    EndpointBookOf() {
        options_.read_file = [this](const std::string& path) -> Result<std::string, std::string> {
            const auto found = files_.find(path);
            return found == files_.end()
                       ? Result<std::string, std::string>{Unexpected{std::string{"No such file"}}}
                       : found->second;
        };
    }

    CallSettings find(const std::string& url) const {
        return EndpointBook::read(options_).value().find(parse_webhook_url(url).value());
    }

    // Which endpoint's time-out holds for a URL.
    Duration timeout(const std::string& url) const { return find(url).terms.timeout; }

    std::string error() const {
        const auto book = EndpointBook::read(options_);
        EXPECT_FALSE(book);
        return book ? "" : book.error();
    }

    std::map<std::string, std::string> files_;
    WebhookOptions options_;
};

TEST_F(EndpointBookOf, TakesTheLongestPrefixThatEndsWhereAPartOfThePathDoes) {
    options_.endpoints = {{.url_prefix = "https://a.example", .timeout = 1s},
                          {.url_prefix = "https://a.example/x", .timeout = 2s},
                          {.url_prefix = "https://a.example/x/y/", .timeout = 3s},
                          {.url_prefix = "http://a.example", .timeout = 4s},
                          {.url_prefix = "https://a.example:8443/x", .timeout = 5s}};

    EXPECT_EQ(timeout("https://A.example:443"), 1s);
    EXPECT_EQ(timeout("https://a.example/xy"), 1s);
    EXPECT_EQ(timeout("https://a.example/x"), 2s);
    EXPECT_EQ(timeout("https://a.example/x?q=/x/y/"), 2s);
    EXPECT_EQ(timeout("https://a.example/x/z"), 2s);
    EXPECT_EQ(timeout("https://a.example/x/y"), 2s);
    EXPECT_EQ(timeout("https://a.example/x/y/z"), 3s);
    EXPECT_EQ(timeout("http://a.example/x"), 4s);
    EXPECT_EQ(timeout("https://a.example:8443/x"), 5s);
    for (const char* const other :
         {"https://a.example:8443/", "https://a.example.evil.org/x", "https://b.example/",
          "https://evil.org/https://a.example/x", "https://xa.example/x"}) {
        EXPECT_EQ(timeout(other), CallTerms{}.timeout) << other;
    }
}

TEST_F(EndpointBookOf, HasTheUsualSecretsWhereAnEndpointHasNone) {
    files_ = {{"usual", "whsec_dXN1YWw="}, {"old", "b2xk\n"}, {"new", "bmV3"}};
    options_.secret_files = {"usual"};
    options_.endpoints = {{.url_prefix = "https://own.example", .secret_files = {"new", "old"}},
                          {.url_prefix = "https://none.example", .max_concurrent = 3}};

    EXPECT_EQ(find("https://own.example/").keys, (std::vector<std::string>{"new", "old"}));
    EXPECT_EQ(find("https://none.example/").keys, std::vector<std::string>{"usual"});
    EXPECT_EQ(find("https://none.example/").terms.concurrent_max, 3U);
    EXPECT_EQ(find("https://other.example/").keys, std::vector<std::string>{"usual"});
    EXPECT_EQ(find("https://other.example/").terms.concurrent_max, 64U);
    EXPECT_EQ(find("https://other.example/").terms.timeout, 15s);
    options_.timeout = 7s;
    EXPECT_EQ(find("https://other.example/").terms.timeout, 7s);
    EXPECT_EQ(find("https://none.example/").terms.timeout, 15s);
}

TEST_F(EndpointBookOf, ReadsHeadersFromFiles) {
    files_ = {{"token", " Bearer abc \r\n"}, {"empty", "\n"}};
    options_.endpoints = {
        {.url_prefix = "https://a.example",
         .headers = {{"Authorization", "file:token"}, {"X-Plain", "plain"}, {"X-Empty", "file:empty"}}}};

    EXPECT_EQ(find("https://a.example/").headers,
              (std::vector<std::pair<std::string, std::string>>{
                  {"Authorization", "Bearer abc"}, {"X-Plain", "plain"}, {"X-Empty", ""}}));
    EXPECT_TRUE(find("https://b.example/").headers.empty());
}

TEST_F(EndpointBookOf, SaysWhichFileCannotBeUsedAndNeverWhatIsInIt) {
    files_ = {{"bad", "my-secret!"}, {"empty", "whsec_"}, {"lines", "hush\nhush"}};

    options_.secret_files = {"none"};
    EXPECT_EQ(error(), "The secret of webhooks none cannot be read: No such file.");
    options_.secret_files = {"bad"};
    EXPECT_THAT(error(), HasSubstr("The secret of webhooks bad is not base64"));
    EXPECT_EQ(error().find("my-secret"), std::string::npos);
    options_.secret_files = {"empty"};
    EXPECT_THAT(error(), HasSubstr("is empty"));
    options_.secret_files = {};
    options_.endpoints = {{.url_prefix = "https://a.example", .secret_files = {"bad"}}};
    EXPECT_THAT(error(), HasSubstr("The secret of webhooks bad is not base64"));
    options_.endpoints = {{.url_prefix = "https://a.example", .headers = {{"X", "file:none"}}}};
    EXPECT_EQ(error(),
              "The endpoint 'https://a.example': the header 'X' cannot be read (file:none): No such file.");
    options_.endpoints = {{.url_prefix = "https://a.example", .headers = {{"X", "file:lines"}}}};
    EXPECT_THAT(error(), HasSubstr("the header 'X' has a value with control characters"));
    EXPECT_EQ(error().find("hush"), std::string::npos);
}

TEST_F(EndpointBookOf, RefusesSettingsThatCannotHold) {
    for (const char* const prefix : {"", "a.example", "ftp://a.example", "https://a.example/?q",
                                     "https://u@a.example", "https://a.example/#f"}) {
        options_.endpoints = {{.url_prefix = prefix}};
        EXPECT_THAT(error(), HasSubstr("The endpoint '" + std::string{prefix} + "': ")) << prefix;
    }
    for (const char* const name :
         {"", "a b", "X\r\nY", "Host", "content-LENGTH", "Transfer-Encoding", "Connection", "Idempotency-Key",
          "Webhook-Signature", "webhook-id", "X:"}) {
        options_.endpoints = {{.url_prefix = "https://a.example", .headers = {{name, "x"}}}};
        EXPECT_THAT(error(), HasSubstr("cannot be set")) << name;
    }
    options_.endpoints = {{.url_prefix = "https://a.example", .headers = {{"X", std::string(8193, 'x')}}}};
    EXPECT_THAT(error(), HasSubstr("more than 8192 bytes"));
    options_.endpoints = {};
    options_.timeout = 0ms;
    EXPECT_EQ(error(), "Webhooks: the time-out must be more than nothing and at most ten minutes.");
    options_.timeout = 15s;
    options_.endpoints = {{.url_prefix = "https://a.example", .timeout = 0ms}};
    EXPECT_THAT(error(), HasSubstr("time-out"));
    options_.endpoints = {{.url_prefix = "https://a.example", .max_concurrent = 0}};
    EXPECT_THAT(error(), HasSubstr("at least one call"));
    options_.endpoints = {{.url_prefix = "https://a.example", .proxy = "http://proxy.example:3128"}};
    EXPECT_EQ(error(), "The endpoint 'https://a.example': a proxy is not supported yet.");
    options_.endpoints = {{.url_prefix = "https://a.example"},
                          {.url_prefix = "https://b.example"},
                          {.url_prefix = "https://A.example:443/"}};
    EXPECT_EQ(error(), "The endpoint 'https://a.example:443/' is there twice.");
}

}  // namespace
}  // namespace sluice::webhook
