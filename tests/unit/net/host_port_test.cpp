#include "net/host_port.hpp"

#include <gtest/gtest.h>

namespace sluice::net {
namespace {

TEST(HostPort, ReadsNamesAndBothKindsOfAddresses) {
    EXPECT_EQ(*parse_host_port("localhost:0"), (HostPort{"localhost", 0}));
    EXPECT_EQ(*parse_host_port("[::1]:8080"), (HostPort{"::1", 8080}));
    EXPECT_EQ((HostPort{"::1", 8080}.text()), "[::1]:8080");
    for (const char* text :
         {"", ":80", "h", "h:", "h:-1", "h:8080x", "::1:80", "[x]:80", "[]:80", "a b:80"}) {
        EXPECT_FALSE(parse_host_port(text)) << text;
    }
}

TEST(ServerUrl, ReadsTheAddressOfAServer) {
    EXPECT_EQ(*parse_server_url("http://127.0.0.1:8080"), (ServerUrl{{"127.0.0.1", 8080}}));
    EXPECT_EQ(*parse_server_url("http://[::1]:8080/"), (ServerUrl{{"::1", 8080}}));
    EXPECT_EQ(*parse_server_url("http://[::1]"), (ServerUrl{{"::1", 80}}));
    EXPECT_EQ(*parse_server_url("127.0.0.1:8080"), (ServerUrl{{"127.0.0.1", 8080}}));
    EXPECT_EQ(*parse_server_url("[::1]:8080"), (ServerUrl{{"::1", 8080}}));
    EXPECT_EQ(*parse_server_url("http://example.com"), (ServerUrl{{"example.com", 80}}));
    EXPECT_EQ(*parse_server_url("https://example.com"), (ServerUrl{{"example.com", 443}, true}));
    EXPECT_EQ(*parse_server_url("https://[::1]:8443/"), (ServerUrl{{"::1", 8443}, true}));
    EXPECT_EQ((ServerUrl{{"::1", 8443}, true}.text()), "https://[::1]:8443");
    EXPECT_EQ((ServerUrl{{"h", 80}}.text()), "http://h:80");
    for (const char* text : {"", "h", "h:", "ftp://h", "http://", "http://h/path", "http://u:p@h",
                             "http://h:0", "https://", "https://h:0", "https://h/path", "https:/h"}) {
        EXPECT_FALSE(parse_server_url(text)) << text;
    }
}

TEST(HostPort, KnowsWhichListenersOnlyThisMachineReaches) {
    for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
        EXPECT_TRUE(is_loopback({host, 1})) << host;
    }
    for (const char* host :
         {"0.0.0.0", "10.0.0.1", "128.0.0.1", "::", "::ffff:10.0.0.1", "localhost.example"}) {
        EXPECT_FALSE(is_loopback({host, 1})) << host;
    }
    EXPECT_TRUE(is_loopback(*resolve_listener({"localhost", 1})));
    EXPECT_FALSE(resolve_listener({"no-such-host.invalid", 1}));
}

}  // namespace
}  // namespace sluice::net
