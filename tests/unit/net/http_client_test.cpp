// The HTTP client against servers that do what a script says, well-behaved or not.
#include "net/http_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/blocking_http_client.hpp"
#include "support/gate.hpp"
#include "support/scripted_server.hpp"

namespace sluice::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = HttpFault::Kind;
using test::ScriptedPeer;
using test::ScriptedServer;
using Line = ScriptedServer::Line;

constexpr auto kPatience = 10s;

std::string response(const std::string& body, const std::string& headers = {}) {
    return "HTTP/1.1 200 OK\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
}

Line answer(const std::string& bytes) {
    return [bytes](ScriptedPeer& peer) {
        peer.request();
        peer.send(bytes);
    };
}

ServerUrl url(const ScriptedServer& server) { return {{"127.0.0.1", server.port()}}; }

// The fault that one GET meets.
HttpFault fault_of(const ScriptedServer& server, HttpClientOptions options = {},
                   std::chrono::milliseconds patience = kPatience) {
    auto outcome = BlockingHttpClient{std::move(options)}.send(url(server), {"GET", "/"}, patience);
    EXPECT_FALSE(outcome) << "status " << (outcome ? outcome->status : 0);
    return outcome ? HttpFault{} : outcome.error();
}

TEST(HttpClient, SendsWhatItIsGivenAndReadsTheAnswer) {
    std::string seen;
    std::optional<ScriptedServer> server;
    server.emplace(std::vector<Line>{[&seen](ScriptedPeer& peer) {
        seen = peer.request();
        peer.send(response("body", "X-One: 1\r\n"));
    }});
    HttpClientOptions options;
    options.user_agent = "tests/1";
    const std::uint16_t port = server->port();

    const auto outcome = BlockingHttpClient{options}.send(
        url(*server), {"POST", "/path?q=1", "hello", {{"X-Two", "2"}}}, kPatience);
    server.reset();

    ASSERT_TRUE(outcome) << outcome.error().sentence;
    EXPECT_EQ(outcome->status, 200U);
    EXPECT_EQ(outcome->body, "body");
    EXPECT_EQ(outcome->header("x-one"), "1");
    EXPECT_EQ(outcome->header("x-none"), "");
    EXPECT_THAT(seen, StartsWith("POST /path?q=1 HTTP/1.1\r\n"));
    EXPECT_THAT(seen, HasSubstr("Host: 127.0.0.1:" + std::to_string(port) + "\r\n"));
    EXPECT_THAT(seen, HasSubstr("User-Agent: tests/1\r\n"));
    EXPECT_THAT(seen, HasSubstr("X-Two: 2\r\n"));
    EXPECT_THAT(seen, HasSubstr("Content-Length: 5\r\n"));
    EXPECT_TRUE(seen.ends_with("\r\n\r\nhello"));
}

TEST(HttpClient, KeepsAConnectionForTheNextRequest) {
    ScriptedServer server{{[](ScriptedPeer& peer) {
        for (int i = 0; i < 1'000; ++i) {
            peer.request();
            peer.send(response(std::to_string(i)));
        }
    }}};
    BlockingHttpClient client{{}};

    for (int i = 0; i < 1'000; ++i) {
        const auto outcome = client.send(url(server), {"POST", "/", "{}"}, kPatience);
        ASSERT_TRUE(outcome) << outcome.error().sentence;
        ASSERT_EQ(outcome->body, std::to_string(i));
    }

    EXPECT_EQ(server.accepted(), 1U);
}

TEST(HttpClient, OpensAnotherConnectionWhenTheServerHasClosedTheKeptOne) {
    ScriptedServer server{{answer(response("one")), answer(response("two", "Connection: close\r\n")),
                           answer(response("three"))}};
    BlockingHttpClient client{{}};

    for (const char* const body : {"one", "two", "three"}) {
        // Whatever it is: nothing is sent over a connection that is known to be closed.
        const auto outcome = client.send(url(server), {"POST", "/", "{}"}, kPatience);
        ASSERT_TRUE(outcome) << outcome.error().sentence;
        EXPECT_EQ(outcome->body, body);
        while (server.closed() < server.accepted()) {
            std::this_thread::yield();
        }
    }
}

// The server reads the second request and closes: nobody can tell what became of it.
Line closes_on_the_second() {
    return [](ScriptedPeer& peer) {
        peer.request();
        peer.send(response("first"));
        peer.request();
        peer.reset();
    };
}

TEST(HttpClient, NeverRepeatsARequestByItself) {
    ScriptedServer server{{closes_on_the_second(), answer(response("second"))}};
    BlockingHttpClient client{{}};
    ASSERT_TRUE(client.send(url(server), {"GET", "/"}, kPatience));

    const auto outcome = client.send(url(server), {"GET", "/"}, kPatience);

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, Kind::Lost);
    EXPECT_TRUE(outcome.error().may_have_arrived);
    EXPECT_EQ(server.accepted(), 1U);
}

TEST(HttpClient, RepeatsARequestThatIsSafeToRepeat) {
    ScriptedServer server{{closes_on_the_second(), answer(response("second"))}};
    BlockingHttpClient client{{}};
    ASSERT_TRUE(client.send(url(server), {"GET", "/"}, kPatience));

    const auto outcome =
        client.send(url(server), {.method = "GET", .target = "/", .repeatable = true}, kPatience);

    ASSERT_TRUE(outcome) << outcome.error().sentence;
    EXPECT_EQ(outcome->body, "second");
}

TEST(HttpClient, DoesNotRepeatEvenASafeRequestOverAFreshConnection) {
    ScriptedServer server{{[](ScriptedPeer& peer) { peer.request(); }, answer(response("second"))}};

    const auto outcome = BlockingHttpClient{{}}.send(
        url(server), {.method = "GET", .target = "/", .repeatable = true}, kPatience);

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, Kind::Lost);
}

TEST(HttpClient, ReadsChunksAndBodiesThatEndWithTheConnection) {
    ScriptedServer server{
        {answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
         answer("HTTP/1.1 200 OK\r\n\r\nuntil the end"),
         answer("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + response("after hints")),
         answer("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"), answer("HTTP/1.1 204 No Content\r\n\r\n")}};
    const auto body_of = [&](const std::string& method) {
        const auto outcome = BlockingHttpClient{{}}.send(url(server), {method, "/"}, kPatience);
        return outcome ? outcome->body : outcome.error().sentence;
    };

    EXPECT_EQ(body_of("GET"), "abcde");
    EXPECT_EQ(body_of("GET"), "until the end");
    EXPECT_EQ(body_of("GET"), "after hints");
    EXPECT_EQ(body_of("HEAD"), "");
    EXPECT_EQ(body_of("DELETE"), "");
}

TEST(HttpClient, FollowsNoRedirect) {
    ScriptedServer server{
        {answer("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")}};

    const auto outcome = BlockingHttpClient{{}}.send(url(server), {"GET", "/"}, kPatience);

    ASSERT_TRUE(outcome) << outcome.error().sentence;
    EXPECT_EQ(outcome->status, 302U);
}

TEST(HttpClient, TakesNoTruncatedAnswerForAWholeOne) {
    for (const char* const bytes :
         {"", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"}) {
        const ScriptedServer server{{answer(bytes)}};
        EXPECT_EQ(fault_of(server).kind, Kind::Lost) << bytes;
    }
}

TEST(HttpClient, RefusesWhatIsNotHttp) {
    const ScriptedServer server{{answer("220 mail.example ESMTP\r\n\r\n")}};

    const HttpFault fault = fault_of(server);

    EXPECT_EQ(fault.kind, Kind::Malformed);
    EXPECT_THAT(fault.sentence, HasSubstr("did not answer in HTTP"));
}

TEST(HttpClient, ReadsNoMoreThanItsBound) {
    HttpClientOptions options;
    options.body_max = 100;
    const std::string chunks = "64\r\n" + std::string(100, 'x') + "\r\n";
    for (const std::string& bytes :
         {response(std::string(101, 'x')),
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + chunks,
          "HTTP/1.1 200 OK\r\n\r\n" + std::string(101, 'x'),
          "HTTP/1.1 200 OK\r\nX: " + std::string(17'000, 'x') + "\r\n\r\n"}) {
        const ScriptedServer server{{answer(bytes)}};
        EXPECT_EQ(fault_of(server, options).kind, Kind::TooLarge) << bytes.substr(0, 50);
    }
    const ScriptedServer exact{{answer(response(std::string(100, 'x')))}};
    EXPECT_TRUE(BlockingHttpClient{options}.send(url(exact), {"GET", "/"}, kPatience));
}

TEST(HttpClient, KeepsTheBeginningOfALongBodyWhenToldTo) {
    HttpClientOptions options;
    options.body_max = 100;
    options.cut_bodies = true;
    const std::string chunks = "64\r\n" + std::string(100, 'x') + "\r\n";
    // The third announces more than any machine has.
    for (const std::string& bytes :
         {response(std::string(101, 'x')),
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + chunks,
          "HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\n" + std::string(101, 'x'),
          "HTTP/1.1 200 OK\r\n\r\n" + std::string(101, 'x')}) {
        ScriptedServer server{{answer(bytes), answer(response("next"))}};
        BlockingHttpClient client{options};

        const auto outcome = client.send(url(server), {"GET", "/"}, kPatience);
        const auto next = client.send(url(server), {"GET", "/"}, kPatience);

        ASSERT_TRUE(outcome) << outcome.error().sentence;
        EXPECT_EQ(outcome->status, 200U);
        EXPECT_EQ(outcome->body, std::string(100, 'x'));
        EXPECT_TRUE(outcome->cut);
        ASSERT_TRUE(next) << next.error().sentence;
        EXPECT_EQ(next->body, "next");
        EXPECT_FALSE(next->cut);
        EXPECT_EQ(server.accepted(), 2U);
    }
}

TEST(HttpClient, AsksBeforeTheFirstByteAndWritesNoneWhenTheAnswerIsNo) {
    std::vector<std::string> seen;
    std::optional<ScriptedServer> server;
    server.emplace(std::vector<Line>{[&seen](ScriptedPeer& peer) {
        for (std::string request = peer.request(); !request.empty(); request = peer.request()) {
            seen.push_back(request);
            peer.send(response("there"));
        }
    }});
    int asked = 0;
    const auto request = [&asked](const std::string& path, bool allowed) {
        HttpRequest made{"POST", path, "{}"};
        made.may_write = [&asked, allowed] {
            ++asked;
            return allowed;
        };
        return made;
    };
    {
        BlockingHttpClient client{{}};

        // Over a connection that is new, and over one that was kept.
        const auto first = client.send(url(*server), request("/withheld", false), kPatience);
        const auto second = client.send(url(*server), request("/written", true), kPatience);
        const auto third = client.send(url(*server), request("/withheld", false), kPatience);

        ASSERT_FALSE(first);
        EXPECT_EQ(first.error().kind, Kind::Withheld);
        EXPECT_FALSE(first.error().may_have_arrived);
        EXPECT_TRUE(second);
        ASSERT_FALSE(third);
        EXPECT_EQ(third.error().kind, Kind::Withheld);
        EXPECT_EQ(asked, 3);
        EXPECT_EQ(server->accepted(), 1U);
    }
    server.reset();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_THAT(seen.front(), StartsWith("POST /written "));
}

TEST(HttpClient, DoesNotAskWhenThereIsNoConnection) {
    std::uint16_t port = 0;
    {
        const ScriptedServer gone{{}};
        port = gone.port();
    }
    bool asked = false;
    HttpRequest request{"POST", "/"};
    request.may_write = [&asked] { return asked = true; };

    const auto outcome = BlockingHttpClient{{}}.send({{"127.0.0.1", port}}, request, kPatience);

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, Kind::Unreachable);
    EXPECT_FALSE(asked);
}

TEST(HttpClient, KeepsNoMoreConnectionsThanItMayInAll) {
    const auto twice = [](ScriptedPeer& peer) {
        while (!peer.request().empty()) {
            peer.send(response("there"));
        }
    };
    const ScriptedServer one{{twice}};
    const ScriptedServer other{{twice, twice}};
    HttpClientOptions options;
    options.idle_max_of_all = 1;
    BlockingHttpClient client{options};

    for (const ScriptedServer* const server : {&one, &other, &one, &other}) {
        EXPECT_TRUE(client.send(url(*server), {"GET", "/"}, kPatience));
    }

    EXPECT_EQ(one.accepted(), 1U);
    EXPECT_EQ(other.accepted(), 2U);
}

TEST(HttpClient, GivesUpWhenTheTimeIsOver) {
    const auto silent = [](ScriptedPeer& peer) { peer.wait_for_end(); };
    const auto drips = [](ScriptedPeer& peer) {
        peer.request();
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n1");
        peer.wait_for_end();
    };
    for (const Line& line : {Line{silent}, Line{drips}}) {
        const ScriptedServer server{{line}};
        const auto start = std::chrono::steady_clock::now();

        const HttpFault fault = fault_of(server, {}, 200ms);

        EXPECT_EQ(fault.kind, Kind::Late);
        EXPECT_TRUE(fault.may_have_arrived);
        EXPECT_EQ(fault.sentence, "The server " + url(server).text() + " did not answer in time.");
        EXPECT_GE(std::chrono::steady_clock::now() - start, 200ms);
        EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
    }
}

TEST(HttpClient, SaysThatNobodyListensOrThatANameIsUnknown) {
    std::uint16_t port = 0;
    {
        const ScriptedServer gone{{}};
        port = gone.port();
    }
    BlockingHttpClient client{{}};

    const auto unreachable = client.send({{"127.0.0.1", port}}, {"GET", "/"}, kPatience);
    const auto unknown = client.send({{"no-such-host.invalid", 80}}, {"GET", "/"}, kPatience);

    ASSERT_FALSE(unreachable);
    EXPECT_EQ(unreachable.error().kind, Kind::Unreachable);
    EXPECT_FALSE(unreachable.error().may_have_arrived);
    EXPECT_THAT(unreachable.error().sentence, HasSubstr("cannot be reached (Connection refused)."));
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, Kind::UnknownHost);
}

TEST(HttpClient, ConnectsToNoAddressThatIsRefused) {
    const ScriptedServer server{{answer(response("reached"))}};
    std::vector<std::string> asked;
    HttpClientOptions options;
    options.check_address = [&asked](const boost::asio::ip::address& address) -> std::optional<std::string> {
        asked.push_back(address.to_string());
        return address.is_loopback() ? std::optional<std::string>{"is of this machine"} : std::nullopt;
    };
    BlockingHttpClient client{options};

    // The name leads to this machine; what counts is where it leads.
    for (const char* const host : {"127.0.0.1", "localhost"}) {
        const auto outcome = client.send({{host, server.port()}}, {"GET", "/"}, kPatience);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().kind, Kind::AddressRefused);
        EXPECT_FALSE(outcome.error().may_have_arrived);
        EXPECT_THAT(outcome.error().sentence, HasSubstr("127.0.0.1 is of this machine."));
    }

    EXPECT_THAT(asked, ::testing::Contains("127.0.0.1"));
    EXPECT_EQ(server.accepted(), 0U);
}

TEST(HttpClient, SaysThatAServerCannotBeReachedWhenOnlySomeOfItsAddressesAreRefused) {
    std::uint16_t port = 0;
    {
        const ScriptedServer gone{{}};
        port = gone.port();
    }
    HttpClientOptions options;
    options.find_addresses =
        [](const std::string&) -> Result<std::vector<boost::asio::ip::address>, std::string> {
        return std::vector{boost::asio::ip::make_address("127.0.0.1"),
                           boost::asio::ip::make_address("127.0.0.2")};
    };
    options.check_address = [](const boost::asio::ip::address& address) -> std::optional<std::string> {
        return address.to_string() == "127.0.0.2" ? std::optional<std::string>{"is refused"} : std::nullopt;
    };

    const auto outcome = BlockingHttpClient{options}.send({{"both.example", port}}, {"GET", "/"}, kPatience);

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, Kind::Unreachable);
}

boost::asio::awaitable<void> ask(HttpClient& client, ServerUrl server, std::vector<std::string>& bodies) {
    HttpRequest request{"GET", "/"};
    auto outcome = co_await client.send(std::move(server), std::move(request), kPatience);
    bodies.push_back(outcome ? outcome->body : outcome.error().sentence);
}

TEST(HttpClient, LetsANameThatNobodyAnswersForKeepNoOtherWaiting) {
    const ScriptedServer server{{answer(response("there"))}};
    std::atomic<int> searched = 0;
    test::Gate gate;
    boost::asio::io_context io{1};
    std::vector<std::string> bodies;
    {
        HttpClientOptions options;
        options.lookups_max = 2;
        options.find_addresses =
            [&](const std::string& host) -> Result<std::vector<boost::asio::ip::address>, std::string> {
            if (host == "slow.example") {
                ++searched;
                gate.pass();
                return Unexpected{std::string{"nobody knows"}};
            }
            return std::vector{boost::asio::ip::make_address("127.0.0.1")};
        };
        HttpClient client{options};

        for (int i = 0; i < 10; ++i) {
            boost::asio::co_spawn(io, ask(client, {{"slow.example", 80}}, bodies), boost::asio::detached);
        }
        boost::asio::co_spawn(io, ask(client, {{"quick.example", server.port()}}, bodies),
                              boost::asio::detached);
        while (bodies.empty()) {
            io.run_one();
        }
        gate.let_go();
        io.run();
    }

    ASSERT_EQ(bodies.size(), 11U);
    EXPECT_EQ(bodies.front(), "there");
    EXPECT_EQ(bodies.back(), "The server http://slow.example:80 is not known (nobody knows).");
    EXPECT_EQ(searched, 1);
}

TEST(HttpClient, WaitsForNoNameLongerThanItMay) {
    test::Gate gate;
    HttpClientOptions options;
    options.find_addresses =
        [&](const std::string&) -> Result<std::vector<boost::asio::ip::address>, std::string> {
        gate.pass();
        return Unexpected{std::string{"too late"}};
    };
    BlockingHttpClient client{options};

    const auto outcome = client.send({{"slow.example", 80}}, {"GET", "/"}, 50ms);
    gate.let_go();

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, Kind::Late);
}

TEST(HttpClient, SendsNothingThatCouldBeReadAsSomethingElse) {
    const ScriptedServer server{{answer(response(""))}};
    for (const HttpRequest& request :
         {HttpRequest{"GET", "/ HTTP/1.1\r\nX: y"}, HttpRequest{"GET", "/a b"}, HttpRequest{"GET", "path"},
          HttpRequest{"GET /", "/"}, HttpRequest{"GET", "/", "", {{"X", "a\r\nY: b"}}},
          HttpRequest{"GET", "/", "", {{"X: y\r\nZ", "a"}}}, HttpRequest{"", "/"}}) {
        const auto outcome = BlockingHttpClient{{}}.send(url(server), request, kPatience);
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().kind, Kind::BadRequest);
        EXPECT_FALSE(outcome.error().may_have_arrived);
    }
}

TEST(HttpClient, ServesManyCoroutinesOfAThreadAtOnce) {
    // None is answered before all have asked: the calls must be under way at the same time.
    constexpr std::size_t kCalls = 20;
    std::atomic<std::size_t> asked = 0;
    std::vector<Line> script(kCalls, [&asked](ScriptedPeer& peer) {
        peer.request();
        ++asked;
        while (asked < kCalls) {
            std::this_thread::yield();
        }
        peer.send(response("there"));
        peer.wait_for_end();
    });
    const ScriptedServer server{script};
    boost::asio::io_context io{1};
    std::vector<std::string> bodies;
    {
        HttpClient client{{}};

        for (std::size_t i = 0; i < kCalls; ++i) {
            boost::asio::co_spawn(io, ask(client, url(server), bodies), boost::asio::detached);
        }
        io.run();

        EXPECT_EQ(client.idle(), HttpClientOptions{}.idle_max);
    }
    EXPECT_EQ(bodies, std::vector<std::string>(kCalls, "there"));
}

TEST(UrlEncoded, LeavesOnlyUnreservedCharacters) {
    EXPECT_EQ(url_encoded("aZ09-._~"), "aZ09-._~");
    EXPECT_EQ(url_encoded("a/b c?d%\xC3\xA4"), "a%2Fb%20c%3Fd%25%C3%A4");
}

}  // namespace
}  // namespace sluice::net
