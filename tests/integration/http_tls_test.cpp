// The door over TLS: whom it lets in, what it shows, and who must not harm whom.
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/tls_server.hpp"
#include "support/certificates.hpp"
#include "support/door_fixture.hpp"
#include "support/temp_folder.hpp"
#include "support/tls_peer.hpp"

namespace sluice::test {
namespace {

using ::testing::HasSubstr;

// The files of a door: one authority for servers and one for clients.
class TlsDoorFiles {
protected:
    TlsDoorFiles() {
        write_file(folder_ / "ca.pem", authority_.certificate_pem());
        write_file(folder_ / "client-ca.pem", client_authority_.certificate_pem());
        show(authority_.issue(for_this_machine()));
    }

    // What lies in the files from now on.
    void show(const Certificate& certificate) const {
        write_file(folder_ / "cert.pem", certificate.certificate_pem());
        write_file(folder_ / "key.pem", certificate.key_pem());
    }

    net::TlsServer* open(const std::string& client_ca = {}) {
        tls_ =
            net::TlsServer::open({folder_ / "cert.pem", folder_ / "key.pem", client_ca}, "http/1.1").value();
        return tls_.get();
    }

    // The same for clients of one authority, to which the fixture's own belong from now on.
    net::TlsServer* open_for_known_clients() {
        raw_wish() = known_client(client_authority_.issue({"fixture"}), "fixture");
        return open(folder_ / "client-ca.pem");
    }

    TlsWish known_server() const { return {.authorities = folder_ / "ca.pem"}; }

    // A client with a certificate of its own, which lies in files of that name.
    TlsWish known_client(const Certificate& certificate, const std::string& name = "client") const {
        write_file(folder_ / name + ".pem", certificate.certificate_pem());
        write_file(folder_ / name + "-key.pem", certificate.key_pem());
        return {folder_ / "ca.pem", folder_ / name + ".pem", folder_ / name + "-key.pem"};
    }

    TempFolder folder_;
    Certificate authority_ = Certificate::authority("servers");
    Certificate client_authority_ = Certificate::authority("clients");
    std::unique_ptr<net::TlsServer> tls_;
};

http::ServerOptions with_tls(const net::TlsServer* tls) {
    http::ServerOptions options;
    options.tls = tls;
    options.receive_timeout = std::chrono::seconds{1};
    return options;
}

class TlsDoor : protected TlsDoorFiles, public DoorFixture {
protected:
    TlsDoor() : DoorFixture{with_tls(open())} {}
};

// What a request gets. Nothing: the door is shut.
std::optional<HttpAnswer> ask(std::uint16_t port, const TlsWish& wish) {
    try {
        RawHttp http{std::make_unique<TlsPeer>(port, wish)};
        http.try_send(request_text("GET", "/healthz"));
        return http.read();
    } catch (const std::runtime_error&) {
        return std::nullopt;
    }
}

TEST_F(TlsDoor, AnswersAThousandRequestsOverOneConnection) {
    RawHttp http{std::make_unique<TlsPeer>(port(), known_server())};

    for (int i = 0; i < 1'000; ++i) {
        http.send(request_text("GET", "/api/v1/slots/e" + std::to_string(i)));
        const auto answer = http.read();
        ASSERT_TRUE(answer.has_value());
        ASSERT_NE(answer->body.find("'e" + std::to_string(i) + "'"), std::string::npos) << answer->body;
    }

    EXPECT_EQ(server_->connections_approx(), 1U);
}

TEST_F(TlsDoor, SpeaksTls12AndLaterAndHttp11Inside) {
    TlsWish wish = known_server();
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        wish.version_max = version;
        EXPECT_TRUE(ask(port(), wish).has_value()) << version;
    }
    for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
        wish.version_max = version;
        EXPECT_THROW(TlsPeer(port(), wish), std::runtime_error) << version;
    }
    wish = known_server();
    wish.protocol = "http/1.1";
    EXPECT_EQ(TlsPeer(port(), wish).protocol(), "http/1.1");
    wish.protocol = "h2";
    EXPECT_THROW(TlsPeer(port(), wish), std::runtime_error);
}

TEST_F(TlsDoor, TellsAClientWithoutTlsWhatIsWanted) {
    const int socket = connect_to(port());
    const std::string request = request_text("GET", "/healthz");
    ::send(socket, request.data(), request.size(), MSG_NOSIGNAL);

    std::string answer(4096, '\0');
    answer.resize(
        static_cast<std::size_t>(std::max<ssize_t>(0, ::recv(socket, answer.data(), answer.size(), 0))));
    ::close(socket);

    EXPECT_THAT(answer, ::testing::StartsWith("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
    EXPECT_THAT(answer, HasSubstr(R"("code":"tls_required")"));
    EXPECT_EQ(std::stoul(answer.substr(answer.find("Content-Length: ") + 16)),
              answer.size() - answer.find("\r\n\r\n") - 4);
}

TEST_F(TlsDoor, ClosesHandshakesThatDoNotEndWhileOthersAreServed) {
    constexpr std::size_t kSilent = 50;
    while (server_->connections_approx() > 0) {
        std::this_thread::yield();
    }
    std::vector<int> slow;
    for (std::size_t i = 0; i < kSilent; ++i) {
        slow.push_back(connect_to(port()));
        // Some say nothing at all, others begin a hello and stop.
        if (i % 2 == 0) {
            ::send(slow.back(), "\x16\x03\x01\x02", 4, MSG_NOSIGNAL);
        }
    }
    while (server_->connections_approx() < kSilent) {
        std::this_thread::yield();
    }

    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(ask(port(), known_server()).has_value());
    }
    const auto took = std::chrono::steady_clock::now() - start;

    EXPECT_LT(took, std::chrono::seconds{5});
    for (const int socket : slow) {
        char byte = 0;
        EXPECT_EQ(::recv(socket, &byte, 1, 0), 0);
        ::close(socket);
    }
}

TEST_F(TlsDoor, TakesNoTruncatedBodyForAWholeOne) {
    const std::string state_before = state();
    for (const char* const length :
         {"Content-Length: 60\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n36\r\n"}) {
        auto stream = std::make_unique<TlsPeer>(port(), known_server());
        TlsPeer& peer = *stream;
        RawHttp http{std::move(stream)};
        http.send("POST /api/v1/slots HTTP/1.1\r\nHost: t\r\n" + std::string{length} +
                  R"({"eventId":"e","requestedTime":"2025-06-01T12:00:00Z"})");

        peer.cut_off();

        EXPECT_FALSE(http.read().has_value());
    }
    EXPECT_EQ(state(), state_before);
}

TEST_F(TlsDoor, SaysGoodbyeBeforeItCloses) {
    const auto ends = [this](const std::string& request) {
        auto stream = std::make_unique<TlsPeer>(port(), known_server());
        TlsPeer& peer = *stream;
        RawHttp http{std::move(stream)};
        http.send(request);
        EXPECT_TRUE(http.read().has_value());
        EXPECT_TRUE(http.closed());
        return peer.ended_cleanly();
    };

    EXPECT_TRUE(ends(request_text("GET", "/healthz", "", "Connection: close\r\n")));
    EXPECT_TRUE(ends("no HTTP at all\r\n\r\n"));
}

TEST_F(TlsDoor, DrainsIdleConnectionsWithAGoodbyeAndFinishesRequestsUnderWay) {
    auto idle_stream = std::make_unique<TlsPeer>(port(), known_server());
    TlsPeer& idle_peer = *idle_stream;
    RawHttp idle{std::move(idle_stream)};
    idle.send(request_text("GET", "/healthz"));
    ASSERT_EQ(idle.read().value().status, 200);
    RawHttp busy{std::make_unique<TlsPeer>(port(), known_server())};
    const std::string request =
        request_text("POST", "/api/v1/slots", R"({"eventId":"e","requestedTime":"2025-06-01T12:00:00Z"})");
    busy.send(request_text("GET", "/healthz") + request.substr(0, 40));
    ASSERT_EQ(busy.read().value().status, 200);
    const int silent = connect_to(port());  // In the middle of its handshake.

    std::jthread drain{[this] { server_->drain(std::chrono::seconds{10}); }};
    const bool idle_ended = idle.closed();
    busy.send(std::string_view{request}.substr(40));
    const auto last = busy.read();
    drain.join();
    ::close(silent);

    EXPECT_TRUE(idle_ended);
    EXPECT_TRUE(idle_peer.ended_cleanly());
    EXPECT_EQ(last.value().status, 200);
    EXPECT_EQ(last.value().header("connection"), "close");
}

TEST_F(TlsDoor, ShowsANewCertificateToNewConnectionsOnly) {
    const Certificate next = authority_.issue(for_this_machine());
    auto stream = std::make_unique<TlsPeer>(port(), known_server());
    const std::string before = stream->shown_certificate();
    RawHttp under_way{std::move(stream)};

    show(next);
    ASSERT_TRUE(tls_->reload());

    EXPECT_NE(before, next.certificate_pem());
    EXPECT_EQ(TlsPeer(port(), known_server()).shown_certificate(), next.certificate_pem());
    under_way.send(request_text("GET", "/healthz"));
    EXPECT_EQ(under_way.read().value().status, 200);
}

TEST_F(TlsDoor, KeepsAllOfTheOldWhenTheNewIsBad) {
    const std::string before = TlsPeer(port(), known_server()).shown_certificate();
    const auto refusal = [this] {
        const auto loaded = tls_->reload();
        return loaded ? std::string{"taken"} : loaded.error();
    };

    write_file(folder_ / "key.pem", authority_.issue(for_this_machine()).key_pem());
    EXPECT_THAT(refusal(), HasSubstr("does not belong to the certificate"));
    write_file(folder_ / "cert.pem", "no certificate\n");
    EXPECT_THAT(refusal(), HasSubstr("cannot be used"));
    std::filesystem::remove(folder_ / "cert.pem");
    EXPECT_THAT(refusal(), HasSubstr("cannot be read: No such file or directory"));

    EXPECT_EQ(TlsPeer(port(), known_server()).shown_certificate(), before);
    EXPECT_TRUE(ask(port(), known_server()).has_value());
}

// A door for clients of one authority.
class MutualTlsDoor : protected TlsDoorFiles, public DoorFixture {
protected:
    MutualTlsDoor() : DoorFixture{with_tls(open_for_known_clients())} {}
    ~MutualTlsDoor() override { raw_wish() = {}; }
};

TEST_F(MutualTlsDoor, LetsInClientsOfItsAuthorityOnly) {
    const Certificate stranger = Certificate::authority("strangers").issue({"someone"});
    const Certificate old = client_authority_.issue({.name = "old", .until = std::chrono::seconds{-60}});

    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        SCOPED_TRACE(version);
        const auto answer_of = [&](TlsWish wish) {
            wish.version_max = version;
            return ask(port(), wish);
        };
        EXPECT_EQ(answer_of(known_client(client_authority_.issue({"friend"}))).value().status, 200);
        EXPECT_FALSE(answer_of(known_server()).has_value());
        EXPECT_FALSE(answer_of(known_client(stranger)).has_value());
        EXPECT_FALSE(answer_of(known_client(old)).has_value());
        // Of the server's own authority, which vouches for no client.
        EXPECT_FALSE(answer_of(known_client(authority_.issue({"friend"}))).has_value());
    }
    EXPECT_EQ(get("/healthz").status, 200);
}

TEST_F(MutualTlsDoor, ReadsTheAuthorityAgainToo) {
    const Certificate others = Certificate::authority("others");
    const TlsWish friend_of_old = known_client(client_authority_.issue({"friend"}));
    ASSERT_TRUE(ask(port(), friend_of_old).has_value());

    write_file(folder_ / "client-ca.pem", others.certificate_pem());
    ASSERT_TRUE(tls_->reload());

    EXPECT_FALSE(ask(port(), friend_of_old).has_value());
    EXPECT_TRUE(ask(port(), known_client(others.issue({"friend"}))).has_value());
}

class TlsFilesOfAServer : protected TlsDoorFiles, public ::testing::Test {
protected:
    std::string refusal(const std::string& certificate, const std::string& key, const std::string& ca = {}) {
        const auto opened = net::TlsServer::open({certificate, key, ca}, "http/1.1");
        return opened ? std::string{} : opened.error();
    }
};

TEST_F(TlsFilesOfAServer, AreRefusedWithWhatToDo) {
    const std::string certificate = folder_ / "cert.pem";
    const std::string key = folder_ / "key.pem";
    const std::string none = folder_ / "none.pem";
    write_file(folder_ / "empty.pem", "");
    write_file(folder_ / "other-key.pem", authority_.issue(for_this_machine()).key_pem());

    EXPECT_EQ(refusal(certificate, key), "");
    EXPECT_EQ(refusal(none, key),
              "The TLS certificate " + none +
                  " cannot be read: No such file or directory; correct the path, or let this "
                  "user read it.");
    EXPECT_THAT(refusal(certificate, none), HasSubstr("The TLS key " + none + " cannot be read"));
    EXPECT_THAT(refusal(folder_ / "", key), HasSubstr("cannot be read: Is a directory"));
    EXPECT_THAT(refusal(folder_ / "empty.pem", key), HasSubstr("it must hold certificates in PEM form"));
    EXPECT_THAT(refusal(certificate, folder_ / "empty.pem"), HasSubstr("holds no private key in PEM form"));
    EXPECT_THAT(refusal(certificate, folder_ / "other-key.pem"),
                HasSubstr("does not belong to the certificate"));
    EXPECT_THAT(refusal(certificate, key, none), HasSubstr("The file of TLS authorities " + none));
    EXPECT_THAT(refusal(certificate, key, folder_ / "empty.pem"),
                HasSubstr("holds no certificate in PEM form"));
}

TEST_F(TlsFilesOfAServer, MayBeExpiredAndSaySo) {
    show(authority_.issue({.name = "old", .until = std::chrono::seconds{-60}}));
    const Instant now = SystemClock{}.now();

    const auto expired = open()->validity();

    EXPECT_THAT(net::fault_of(expired, now), ::testing::StartsWith("expired at "));
    EXPECT_THAT(net::fault_of(expired, expired.from - Duration{1}),
                ::testing::StartsWith("is not valid before "));
    EXPECT_EQ(net::fault_of(expired, expired.from), "");
    EXPECT_LT(now - expired.until, std::chrono::seconds{70});
}

}  // namespace
}  // namespace sluice::test
