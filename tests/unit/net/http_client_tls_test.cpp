// The HTTP client over TLS: whom it believes, and what it says of whom it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/blocking_http_client.hpp"
#include "net/client_socket.hpp"
#include "net/tls_client.hpp"
#include "support/certificates.hpp"
#include "support/scripted_server.hpp"
#include "support/temp_folder.hpp"

namespace sluice::net {
namespace {

using namespace std::chrono_literals;
using test::Certificate;
using test::ScriptedPeer;
using test::ScriptedServer;
using ::testing::HasSubstr;
using Kind = HttpFault::Kind;
using Line = ScriptedServer::Line;

constexpr auto kPatience = 10s;

class HttpClientOverTls : public ::testing::Test {
protected:
    HttpClientOverTls() { test::write_file(folder_ / "ca.pem", authority_.certificate_pem()); }

    std::unique_ptr<ScriptedServer> serve(const test::CertificateWords& words,
                                          std::vector<Line> script) const {
        const Certificate own = authority_.issue(words);
        test::write_file(folder_ / "cert.pem", own.certificate_pem());
        test::write_file(folder_ / "key.pem", own.key_pem());
        return std::make_unique<ScriptedServer>(std::move(script), folder_ / "cert.pem", folder_ / "key.pem");
    }

    std::shared_ptr<TlsContext> believing(const std::string& authorities) const {
        return open_tls_client({authorities}).value();
    }

    HttpOutcome ask(const ServerUrl& url, const std::string& authorities) const {
        HttpClientOptions options;
        options.tls = believing(authorities);
        return BlockingHttpClient{options}.send(url, {"GET", "/"}, kPatience);
    }

    // What is said, by the client and by the socket of the bench alike.
    std::string fault(const ServerUrl& url, const std::string& authorities) const {
        const auto outcome = ask(url, authorities);
        EXPECT_FALSE(outcome);
        if (outcome) {
            return {};
        }
        EXPECT_EQ(outcome.error().kind, Kind::Tls);
        EXPECT_FALSE(outcome.error().may_have_arrived);
        const auto socket = ClientSocket::open(url, first_address(url).value(), believing(authorities));
        EXPECT_FALSE(socket);
        EXPECT_EQ(socket ? std::string{} : socket.error(), outcome.error().sentence);
        return outcome.error().sentence;
    }

    std::string known() const { return folder_ / "ca.pem"; }

    test::TempFolder folder_;
    Certificate authority_ = Certificate::authority("tests");
};

Line answer(const std::string& bytes) {
    return [bytes](ScriptedPeer& peer) {
        peer.request();
        peer.send(bytes);
        peer.say_goodbye();
    };
}

constexpr const char* kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const Line kNothing = [](ScriptedPeer& peer) { peer.wait_for_end(); };

TEST_F(HttpClientOverTls, BelievesAServerOfItsAuthority) {
    const auto server = serve(test::for_this_machine(), {answer(kAnswer), answer(kAnswer)});

    for (const char* const host : {"127.0.0.1", "localhost"}) {
        const auto outcome = ask({{host, server->port()}, true}, known());
        ASSERT_TRUE(outcome) << outcome.error().sentence;
        EXPECT_EQ(outcome->body, "hi");
    }
}

TEST_F(HttpClientOverTls, KeepsAConnection) {
    const auto server = serve(test::for_this_machine(), {[](ScriptedPeer& peer) {
                                  while (!peer.request().empty()) {
                                      peer.send(kAnswer);
                                  }
                              }});
    HttpClientOptions options;
    options.tls = believing(known());
    {
        BlockingHttpClient client{options};
        for (int i = 0; i < 100; ++i) {
            const auto outcome = client.send({{"localhost", server->port()}, true}, {"GET", "/"}, kPatience);
            ASSERT_TRUE(outcome) << outcome.error().sentence;
        }
    }
    EXPECT_EQ(server->accepted(), 1U);
}

TEST_F(HttpClientOverTls, SaysWhichFaultItIs) {
    const auto good = serve(test::for_this_machine(), {kNothing, kNothing});
    EXPECT_THAT(fault({{"127.0.0.1", good->port()}, true}, {}),
                HasSubstr("no authority known here vouches for"));

    const auto other_name =
        serve({"else", "DNS:else.example,IP:10.0.0.1"}, {kNothing, kNothing, kNothing, kNothing});
    EXPECT_THAT(fault({{"127.0.0.1", other_name->port()}, true}, known()),
                HasSubstr("for another name than '127.0.0.1'"));
    EXPECT_THAT(fault({{"localhost", other_name->port()}, true}, known()),
                HasSubstr("for another name than 'localhost'"));

    const auto expired = serve({"old", "IP:127.0.0.1", -7200s, -3600s}, {kNothing, kNothing});
    EXPECT_THAT(fault({{"127.0.0.1", expired->port()}, true}, known()), HasSubstr("that has expired"));

    const auto early = serve({"new", "IP:127.0.0.1", 3600s, 7200s}, {kNothing, kNothing});
    EXPECT_THAT(fault({{"127.0.0.1", early->port()}, true}, known()), HasSubstr("not valid yet"));

    const auto plain = [](ScriptedPeer& peer) { peer.send("HTTP/1.1 400 Bad Request\r\n\r\n"); };
    const ScriptedServer without{{plain, plain}};
    EXPECT_THAT(fault({{"127.0.0.1", without.port()}, true}, known()), HasSubstr("does not speak TLS"));
}

TEST_F(HttpClientOverTls, WaitsForNoHandshakeForEver) {
    const ScriptedServer silent{{kNothing}};
    HttpClientOptions options;
    options.tls = believing(known());
    options.connect_timeout = 200ms;

    const auto outcome =
        BlockingHttpClient{options}.send({{"127.0.0.1", silent.port()}, true}, {"GET", "/"}, kPatience);

    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, Kind::Late);
    EXPECT_FALSE(outcome.error().may_have_arrived);
}

TEST_F(HttpClientOverTls, TakesNoBodyThatWasCutOffForAWholeOne) {
    const std::string until_the_end = "HTTP/1.1 200 OK\r\n\r\nhal";
    const auto cut = [&](ScriptedPeer& peer) {
        peer.request();
        peer.send(until_the_end);
    };
    const auto server = serve(test::for_this_machine(), {cut, answer(until_the_end)});
    const ServerUrl url{{"127.0.0.1", server->port()}, true};

    const auto truncated = ask(url, known());
    const auto whole = ask(url, known());

    ASSERT_FALSE(truncated);
    EXPECT_EQ(truncated.error().kind, Kind::Lost);
    ASSERT_TRUE(whole) << whole.error().sentence;
    EXPECT_EQ(whole->body, "hal");
}

TEST_F(HttpClientOverTls, RefusesFilesThatItCannotUse) {
    EXPECT_THAT(open_tls_client({folder_ / "none.pem"}).error(), HasSubstr("cannot be read"));
    EXPECT_THAT(open_tls_client({known(), known(), folder_ / "none.pem"}).error(),
                HasSubstr("The TLS key " + (folder_ / "none.pem") + " cannot be read"));
}

}  // namespace
}  // namespace sluice::net
