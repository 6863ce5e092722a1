#include <gtest/gtest.h>

#include "main/http_client.hpp"
#include "main/http_wire.hpp"
#include "main/latency_histogram.hpp"

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(LatencyHistogram, GivesQuantilesWithinItsBuckets) {
    LatencyHistogram histogram;
    for (int i = 1; i <= 10'000; ++i) {
        histogram.record(std::chrono::microseconds{i});
    }

    const auto near = [](std::chrono::nanoseconds value, std::chrono::nanoseconds wanted) {
        return value >= wanted && value <= wanted + wanted / 64;
    };
    EXPECT_TRUE(near(histogram.quantile(0.5), 5ms));
    EXPECT_TRUE(near(histogram.quantile(0.99), 9900us));
    EXPECT_TRUE(near(histogram.quantile(0.999), 9990us));
    EXPECT_EQ(histogram.quantile(1), 10ms);
    EXPECT_EQ(histogram.most(), 10ms);
    EXPECT_EQ(histogram.total(), 10'000U);
}

TEST(LatencyHistogram, HoldsEveryDuration) {
    LatencyHistogram histogram;
    EXPECT_EQ(histogram.quantile(0.5), 0ns);

    for (const auto value : {-1ns, 0ns, 63ns, 64ns, 65ns, std::chrono::nanoseconds::max()}) {
        histogram.record(value);
    }

    EXPECT_EQ(histogram.quantile(0.5), 63ns);
    EXPECT_EQ(histogram.quantile(1), std::chrono::nanoseconds::max());
}

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

TEST(UrlEncoded, LeavesOnlyUnreservedCharacters) {
    EXPECT_EQ(url_encoded("aZ09-._~"), "aZ09-._~");
    EXPECT_EQ(url_encoded("a/b c?d%\xC3\xA4"), "a%2Fb%20c%3Fd%25%C3%A4");
}

}  // namespace
}  // namespace sluice
