#include "net/http_wire.hpp"

#include <gtest/gtest.h>

namespace sluice::net {
namespace {

TEST(HttpWire, ReadsAResponseOnceAllOfItIsThere) {
    const std::string text =
        "HTTP/1.1 503 Service Unavailable\r\nConnection: Close\r\ncontent-LENGTH: 4\r\n\r\nbusy";
    WireResponse response;
    for (std::size_t i = 0; i < text.size(); ++i) {
        EXPECT_EQ(read_response(std::string_view{text}.substr(0, i), response), WireState::Incomplete) << i;
    }

    const std::string more = text + "HTTP/1.1 200";
    EXPECT_EQ(read_response(more, response), WireState::Complete);
    EXPECT_EQ(response.status, 503U);
    EXPECT_EQ(response.size, text.size());
    EXPECT_EQ(response.body, "busy");
    EXPECT_TRUE(response.closes);
}

TEST(HttpWire, ReadsAResponseWithoutABody) {
    WireResponse response;

    EXPECT_EQ(read_response("HTTP/1.1 204 No Content\r\n\r\n", response), WireState::Complete);
    EXPECT_EQ(response.status, 204U);
    EXPECT_FALSE(response.closes);
}

TEST(HttpWire, RefusesWhatItCannotRead) {
    WireResponse response;
    for (const char* text : {"ICY 200 OK\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 20\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
        EXPECT_EQ(read_response(text, response), WireState::Broken) << text;
    }
}

}  // namespace
}  // namespace sluice::net
