// Which URLs and addresses webhooks are sent to.
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "carry/webhook/address_rules.hpp"
#include "carry/webhook/webhook_url.hpp"

namespace sluice::webhook {
namespace {

using ::testing::HasSubstr;

// What rules say of an address: "" when it may be called.
std::string judged(const std::string& text, const std::vector<std::string>& allow = {},
                   bool loopback = false) {
    const auto address = IpAddress::parse(text);
    EXPECT_TRUE(address) << text;
    return AddressRules::make(allow, loopback).value().refusal(address.value()).value_or("");
}

struct Judgement {
    const char* address;
    const char* refusal;  // "": none.
};

// What rules say with no allow list at all.
constexpr auto kJudgements = std::to_array<Judgement>({
    {"0.0.0.0", "is unspecified"},
    {"0.255.255.255", "is unspecified"},
    {"1.0.0.0", ""},
    {"8.8.8.8", ""},
    {"9.255.255.255", ""},
    {"10.0.0.0", "is private"},
    {"10.255.255.255", "is private"},
    {"11.0.0.0", ""},
    {"100.63.255.255", ""},
    {"100.64.0.0", "is shared by customers of a carrier"},
    {"100.100.100.200", "serves metadata of a cloud"},
    {"100.127.255.255", "is shared by customers of a carrier"},
    {"100.128.0.0", ""},
    {"126.255.255.255", ""},
    {"127.0.0.0", "is loopback"},
    {"127.0.0.1", "is loopback"},
    {"127.255.255.255", "is loopback"},
    {"128.0.0.0", ""},
    {"168.63.129.16", "serves metadata of a cloud"},
    {"169.253.255.255", ""},
    {"169.254.0.0", "is link-local"},
    {"169.254.169.254", "is link-local"},
    {"169.254.170.2", "is link-local"},
    {"169.254.255.255", "is link-local"},
    {"169.255.0.0", ""},
    {"172.15.255.255", ""},
    {"172.16.0.0", "is private"},
    {"172.31.255.255", "is private"},
    {"172.32.0.0", ""},
    {"192.0.0.1", "is reserved"},
    {"192.0.0.192", "is reserved"},
    {"192.0.2.1", "is for documentation"},
    {"192.88.99.1", "is reserved"},
    {"192.167.255.255", ""},
    {"192.168.0.0", "is private"},
    {"192.168.255.255", "is private"},
    {"192.169.0.0", ""},
    {"198.17.255.255", ""},
    {"198.18.0.0", "is for benchmarks"},
    {"198.19.255.255", "is for benchmarks"},
    {"198.20.0.0", ""},
    {"198.51.100.7", "is for documentation"},
    {"203.0.113.7", "is for documentation"},
    {"223.255.255.255", ""},
    {"224.0.0.1", "is multicast"},
    {"239.255.255.255", "is multicast"},
    {"240.0.0.1", "is reserved"},
    {"255.255.255.255", "is broadcast"},
    {"::", "is unspecified"},
    {"::1", "is loopback"},
    {"::2", "stands for 0.0.0.2, which is unspecified"},
    {"::7f00:1", "stands for 127.0.0.1, which is loopback"},
    {"::8.8.8.8", ""},
    {"::ffff:127.0.0.1", "stands for 127.0.0.1, which is loopback"},
    {"::ffff:7f00:1", "stands for 127.0.0.1, which is loopback"},
    {"::ffff:0.0.0.0", "stands for 0.0.0.0, which is unspecified"},
    {"::ffff:10.0.0.1", "stands for 10.0.0.1, which is private"},
    {"::ffff:169.254.169.254", "stands for 169.254.169.254, which is link-local"},
    {"::ffff:8.8.8.8", ""},
    {"::ffff:0:192.168.0.1", "stands for 192.168.0.1, which is private"},
    {"64:ff9b::169.254.169.254", "stands for 169.254.169.254, which is link-local"},
    {"64:ff9b::10.0.0.1", "stands for 10.0.0.1, which is private"},
    {"64:ff9b::8.8.8.8", ""},
    {"64:ff9b:1::7f00:1", "is reserved"},
    {"2002:7f00:1::", "stands for 127.0.0.1, which is loopback"},
    {"2002:a9fe:a9fe::1", "stands for 169.254.169.254, which is link-local"},
    {"2002:808:808::1", ""},
    {"2001:0:808:808::f7f7:f7f7", ""},
    {"2001:0:808:808::80ff:fffe", "stands for 127.0.0.1, which is loopback"},
    {"2001:0:a00:1::f7f7:f7f7", "stands for 10.0.0.1, which is private"},
    {"2001:2::1", "is for benchmarks"},
    {"2001:20::1", "is reserved"},
    {"2001:db8::1", "is for documentation"},
    {"3fff::1", "is for documentation"},
    {"2001:4860:4860::8888", ""},
    {"2606:4700:4700::1111", ""},
    {"100::1", "is reserved"},
    {"4000::1", "is reserved"},
    {"5f00::1", "is reserved"},
    {"fc00::1", "is private"},
    {"fd12:3456::1", "is private"},
    {"fd00:ec2::254", "serves metadata of a cloud"},
    {"fd20:ce::254", "serves metadata of a cloud"},
    {"fe80::1", "is link-local"},
    {"febf::1", "is link-local"},
    {"fec0::1", "is reserved"},
    {"ff02::1", "is multicast"},
    {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "is multicast"},
});

TEST(AddressRules, RefuseWhatBelongsToAMachineASiteOrNobody) {
    static_assert(std::size(kJudgements) >= 60);
    for (const auto& [address, refusal] : kJudgements) {
        EXPECT_EQ(judged(address), refusal) << address;
    }
}

TEST(AddressRules, LetThroughPrivateNetsOfTheAllowList) {
    const std::vector<std::string> allow = {"10.1.0.0/16", "192.168.7.9", "fd12::/16", "100.64.0.0/10",
                                            "127.0.0.2/32"};

    for (const char* const address : {"10.1.255.255", "192.168.7.9", "fd12:1::1", "100.64.1.1", "127.0.0.2",
                                      "::ffff:10.1.2.3", "64:ff9b::10.1.2.3"}) {
        EXPECT_EQ(judged(address, allow), "") << address;
    }
    for (const char* const address : {"10.2.0.0", "192.168.7.8", "fd13::1", "127.0.0.1", "::ffff:10.2.0.0"}) {
        EXPECT_NE(judged(address, allow), "") << address;
    }
}

TEST(AddressRules, NeverLetThroughSomeWhateverTheListSays) {
    for (const char* const address :
         {"0.0.0.0", "169.254.169.254", "100.100.100.200", "168.63.129.16", "224.0.0.1", "255.255.255.255",
          "240.0.0.1", "192.0.2.1", "198.18.0.1", "::", "fe80::1", "ff02::1", "fd00:ec2::254", "2001:db8::1",
          "::ffff:169.254.169.254", "2002:a9fe:a9fe::1", "fec0::1", "4000::1"}) {
        EXPECT_NE(judged(address, {"0.0.0.0/0", "::/0"}, true), "") << address;
    }
}

TEST(AddressRules, LetThroughLoopbackWhenToldTo) {
    for (const char* const address : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
        EXPECT_EQ(judged(address, {}, true), "") << address;
        EXPECT_NE(judged(address, {}, false), "") << address;
    }
    EXPECT_NE(judged("10.0.0.1", {}, true), "");
}

TEST(AddressRules, RefuseAListWithSomethingElseInIt) {
    for (const char* const net : {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8 ", "10.0.0/8",
                                  "::/129", "host", "10.0.0.0/8/8", "/8", "fe80::1%eth0/10"}) {
        const auto rules = AddressRules::make({"10.0.0.0/8", net}, false);
        ASSERT_FALSE(rules) << net;
        EXPECT_THAT(rules.error(), HasSubstr("'" + std::string{net} + "' is not a net")) << net;
    }
}

std::string endpoint_of(const std::string& text) {
    const auto url = parse_webhook_url(text);
    return url ? url->endpoint() : std::string{url.error().code} + ": " + url.error().detail;
}

TEST(WebhookUrl, HasOneFormForEveryEndpoint) {
    EXPECT_EQ(endpoint_of("https://A.Example"), "https://a.example:443/");
    EXPECT_EQ(endpoint_of("HTTP://a.example/Path/x"), "http://a.example:80/Path/x");
    EXPECT_EQ(endpoint_of("https://a.example:8443/p?q=1&r=%2F"), "https://a.example:8443/p");
    EXPECT_EQ(endpoint_of("https://a.example?q"), "https://a.example:443/");
    EXPECT_EQ(endpoint_of("http://127.0.0.1:08080/"), "http://127.0.0.1:8080/");
    EXPECT_EQ(endpoint_of("http://[0:0:0:0:0:0:0:1]:80/"), "http://[::1]:80/");
    EXPECT_EQ(endpoint_of("http://[::FFFF:127.0.0.1]/"), "http://[::ffff:127.0.0.1]:80/");
    EXPECT_EQ(endpoint_of("https://xn--bcher-kva.example/%C3%A4;a=b,c@d:e"),
              "https://xn--bcher-kva.example:443/%C3%A4;a=b,c@d:e");
}

TEST(WebhookUrl, SendsPathAndQueryAsTheyCame) {
    EXPECT_EQ(parse_webhook_url("https://a.example").value().request_target(), "/");
    EXPECT_EQ(parse_webhook_url("https://a.example?").value().request_target(), "/?");
    EXPECT_EQ(parse_webhook_url("https://a.example/A%2fb?x=/?&y").value().request_target(), "/A%2fb?x=/?&y");
    EXPECT_EQ(parse_webhook_url("https://a.example:444/A").value().host, "a.example");
}

TEST(WebhookUrl, RefusesWhatIsNoUrlOfHttp) {
    for (const std::string& text : std::vector<std::string>{"",
                                                            "a.example",
                                                            "/path",
                                                            "//a.example/",
                                                            "ftp://a.example/",
                                                            "file:///etc/passwd",
                                                            "gopher://a.example/",
                                                            "javascript:alert(1)",
                                                            "http:/a.example",
                                                            "http:a.example",
                                                            " http://a.example",
                                                            "http://",
                                                            "http:///path",
                                                            "http://:80/",
                                                            "http://a.example:/",
                                                            "http://a.example:0/",
                                                            "http://a.example:65536/",
                                                            "http://a.example:-1/",
                                                            "http://a.example:80x/",
                                                            "http://a.example:+80/",
                                                            "http://a example/",
                                                            "http://a.example/a b",
                                                            "http://a.example/\r\nX: y",
                                                            "http://a.example/\t",
                                                            std::string{"http://a.example/\0", 18},
                                                            "http://a.example/\x7F",
                                                            "http://a.example/\xC3\xA4",
                                                            "http://\xC3\xA4.example/",
                                                            "http://a.example/#fragment",
                                                            "http://a.example/%",
                                                            "http://a.example/%4",
                                                            "http://a.example/%zz",
                                                            "http://a%2eexample/",
                                                            "http://a.example./",
                                                            "http://.a.example/",
                                                            "http://a..example/",
                                                            "http://-a.example/",
                                                            "http://a.example/../x",
                                                            "http://a.example/x/./y",
                                                            "http://a.example/x/%2e%2E/y",
                                                            "http://a.example/x%2F..%2fy",
                                                            "http://a.example/x/..",
                                                            "http://a.example/x%5C..%5Cy",
                                                            "http://a.example/<x>",
                                                            "http://a.example/[x]",
                                                            "http://a.example/?{x}",
                                                            "http://[::1/",
                                                            "http://::1/",
                                                            "http://[127.0.0.1]/",
                                                            "http://[fe80::1%25eth0]/",
                                                            "http://[]/",
                                                            "http://[::1]x/",
                                                            "http://[v1.x]/",
                                                            "http://[::1]:/",
                                                            "http://" + std::string(64, 'a') + ".example/",
                                                            "http://" + std::string(2050, 'a')}) {
        const auto url = parse_webhook_url(text);
        ASSERT_FALSE(url) << text << " is " << url->endpoint();
        EXPECT_EQ(url.error().code, "invalid_target") << text;
    }
}

TEST(WebhookUrl, RefusesCredentials) {
    for (const char* const text :
         {"http://user@a.example/", "http://user:password@a.example/", "https://@a.example/",
          "http://a.example@b/", "http://127.0.0.1:80@a.example/", "http://a.example\\@b.example/"}) {
        const auto url = parse_webhook_url(text);
        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().code, "credentials_in_url") << text;
        EXPECT_EQ(url.error().detail.find("password"), std::string::npos);
    }
    EXPECT_TRUE(parse_webhook_url("http://a.example/user@host"));
}

TEST(WebhookUrl, RefusesNumbersThatAreNoAddressAsItIsWritten) {
    for (const char* const text :
         {"http://2130706433/", "http://0x7f000001/", "http://017700000001/", "http://0177.0.0.1/",
          "http://127.1/", "http://127.0.1/", "http://0x7f.1/", "http://0x7f.0.0.0x1/", "http://0X7F.1/",
          "http://127.0.0.01/", "http://127.0.0.256/", "http://1.2.3.4.5/", "http://0/",
          "http://00000127.0.0.1/", "http://a.example.1/", "http://4294967296/", "http://0x/",
          "http://1.2.3.0x/"}) {
        const auto url = parse_webhook_url(text);
        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().code, "forbidden_address") << text;
    }
    EXPECT_TRUE(parse_webhook_url("http://1and1.example/"));
    EXPECT_TRUE(parse_webhook_url("http://0x7g/"));
}

// Whatever comes in: nothing that is accepted can be read as something else by whoever gets it.
TEST(WebhookUrl, AcceptsOnlyWhatReadsTheSameAgain) {
    constexpr auto kPieces = std::to_array<std::string_view>(
        {"http", "https", "://", ":",       "/",  "//",       "@",    "#",   "?",    "%",    "%2e", "..",
         ".",    "a",     "A",   "example", "[",  "]",        "::1",  "127", "0x7f", "1",    "80",  "-",
         "_",    " ",     "\t",  "\n",      "\\", "\xC3\xA4", "\x7F", "&",   "=",    "65536"});
    Random random{7};
    std::size_t accepted = 0;
    for (int i = 0; i < 200'000; ++i) {
        std::string text = random.below(2) == 0 ? "http://" : "";
        for (std::uint64_t pieces = random.below(9); pieces > 0; --pieces) {
            text += kPieces[random.below(std::size(kPieces))];
        }

        const auto url = parse_webhook_url(text);

        if (!url) {
            continue;
        }
        ++accepted;
        const std::string whole = url->endpoint() + (url->has_query ? "?" + url->query : "");
        const auto again = parse_webhook_url(whole);
        ASSERT_TRUE(again) << text << " became " << whole;
        ASSERT_EQ(again->endpoint(), url->endpoint()) << text;
        ASSERT_EQ(again->request_target(), url->request_target()) << text;
        ASSERT_EQ(whole.find_first_of(" \t\n\\@#\x7F"),
                  url->request_target().find('@') == std::string::npos ? std::string::npos : whole.find('@'))
            << text;
        ASSERT_NE(url->port, 0);
    }
    EXPECT_GT(accepted, 1'000U);
}

}  // namespace
}  // namespace sluice::webhook
