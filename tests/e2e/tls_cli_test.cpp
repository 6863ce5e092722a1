// The server and the command line over TLS, as people use them.
#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/certificates.hpp"
#include "support/cli_process.hpp"
#include "support/temp_folder.hpp"
#include "support/tls_peer.hpp"

namespace sluice::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TlsCli : public ::testing::Test {
protected:
    TlsCli() {
        std::signal(SIGPIPE, SIG_IGN);
        write_file(folder_ / "ca.pem", authority_.certificate_pem());
        show(authority_.issue(for_this_machine()));
    }

    void show(const Certificate& certificate) const {
        write_file(folder_ / "cert.pem", certificate.certificate_pem());
        write_file(folder_ / "key.pem", certificate.key_pem());
    }

    Words serving(Words more = {}) const {
        Words words{"--store",   "memory",           "--tls-cert", folder_ / "cert.pem",
                    "--tls-key", folder_ / "key.pem"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }

    // Of those who believe the authority.
    Variables believing() const { return {{"SLUICE_CA", folder_ / "ca.pem"}}; }

    std::string shown(const CliServer& server) const {
        return TlsPeer(server.port(), {.authorities = folder_ / "ca.pem"}).shown_certificate();
    }

    TempFolder folder_;
    Certificate authority_ = Certificate::authority("tests");
};

TEST_F(TlsCli, RunsEveryKindOfCommandOverHttps) {
    CertificateWords words = for_this_machine();
    words.until = std::chrono::hours{24 * 90};
    show(authority_.issue(words));
    const CliServer server{serving()};
    const auto run = [&](const Words& command) {
        const CliResult result = server.run(command, believing());
        EXPECT_EQ(result.ending.code, 0) << command.front() << ": " << result.out << result.errors;
        return result.out;
    };

    EXPECT_EQ(server.url().substr(0, 8), "https://");
    EXPECT_EQ(run({"wait"}), server.url() + " is ready.\n");
    run({"config", "set", "default", "--max-per-window", "10", "--window-size", "4s"});
    EXPECT_THAT(run({"assign", "e", "--at", "2030-01-01T09:00:00Z"}), HasSubstr("2030-01-01T09:00:0"));
    EXPECT_THAT(run({"bench", "slots", "--count", "200", "--connections", "4", "--json"}),
                AllOf(HasSubstr("\"succeeded\":200"), HasSubstr("\"errors\":0")));
    run({"plan", "set", "gold", "--algorithm", "token_bucket", "--capacity", "10", "--refill", "1/s"});
    EXPECT_THAT(run({"bench", "check", "--plan", "gold", "--count", "200", "--connections", "4", "--json"}),
                HasSubstr("\"errors\":0"));
    EXPECT_THAT(run({"doctor"}),
                AllOf(HasSubstr(server.url() + " is ready."), HasSubstr("is valid until 2")));
}

TEST_F(TlsCli, SaysWhichFaultOfTlsItIs) {
    const auto told = [](const CliServer& server, const Words& words, const Variables& variables) {
        const CliResult result = server.run(words, variables);
        EXPECT_EQ(result.ending.code, 3) << result.out;
        return result.errors;
    };
    const CliServer good{serving()};
    EXPECT_THAT(told(good, {"config", "list"}, {}),
                AllOf(HasSubstr("no authority known here vouches for"), HasSubstr("--ca names")));
    EXPECT_THAT(told(good, {"wait", "--timeout", "1s"}, {}),
                HasSubstr("no authority known here vouches for"));
    EXPECT_THAT(told(good, {"bench", "slots", "--count", "1"}, {}), HasSubstr("no authority known here"));

    show(authority_.issue({"else", "DNS:else.example"}));
    const CliServer other_name{serving()};
    EXPECT_THAT(told(other_name, {"config", "list"}, believing()),
                HasSubstr("another name than '127.0.0.1'"));

    const CliServer plain{{"--store", "memory"}};
    const std::string https = "https://127.0.0.1:" + std::to_string(plain.port());
    EXPECT_THAT(told(plain, {"config", "list", "--server", https}, believing()),
                HasSubstr("does not speak TLS"));

    const std::string http = "http://127.0.0.1:" + std::to_string(good.port());
    const CliResult refused = good.run({"config", "list", "--server", http});
    EXPECT_EQ(refused.ending.code, 1);
    EXPECT_THAT(refused.errors, HasSubstr("This port speaks TLS"));
}

TEST_F(TlsCli, ServesWithAnExpiredCertificateAndSaysSo) {
    show(authority_.issue({"old", "IP:127.0.0.1", std::chrono::hours{-2}, std::chrono::hours{-1}}));
    CliServer server{serving()};

    const CliResult refused = server.run({"config", "list"}, believing());
    const CliResult doctor = run_cli({"doctor"}, {{"SLUICE_SERVER", server.url()},
                                                  {"SLUICE_TLS_CERT", folder_ / "cert.pem"},
                                                  {"SLUICE_TLS_KEY", folder_ / "key.pem"},
                                                  {"SLUICE_STORE", "memory"}});

    EXPECT_THAT(server.process().errors(),
                HasSubstr("WARN  Sluice - The TLS certificate " + (folder_ / "cert.pem") + " expired at "));
    EXPECT_EQ(refused.ending.code, 3);
    EXPECT_THAT(refused.errors, HasSubstr("shows a certificate that has expired"));
    EXPECT_EQ(doctor.ending.code, 1);
    EXPECT_THAT(doctor.out, HasSubstr(" expired at "));
}

TEST_F(TlsCli, ReadsTheCertificateAgainAtSighup) {
    CliServer server{serving()};
    const std::string before = shown(server);
    const Certificate next = authority_.issue(for_this_machine());

    write_file(folder_ / "key.pem", next.key_pem());
    server.process().signal(SIGHUP);
    ASSERT_TRUE(server.process().wait_for_error_text("The certificate in force stays"))
        << server.process().errors();
    EXPECT_THAT(server.process().errors(), HasSubstr("ERROR Sluice - The TLS key " + (folder_ / "key.pem") +
                                                     " does not belong to the certificate "));
    EXPECT_EQ(shown(server), before);

    show(next);
    server.process().signal(SIGHUP);
    ASSERT_TRUE(server.process().wait_for_error_text("Reloaded the TLS certificate from " +
                                                     (folder_ / "cert.pem") + ", valid until 2"));
    EXPECT_EQ(shown(server), next.certificate_pem());

    server.process().signal(SIGTERM);
    EXPECT_EQ(server.process().wait().code, 0);
}

TEST_F(TlsCli, ShowsACertificateToAServerThatWantsOne) {
    const Certificate clients = Certificate::authority("clients");
    const Certificate own = clients.issue({"ops"});
    write_file(folder_ / "clients.pem", clients.certificate_pem());
    write_file(folder_ / "ops.pem", own.certificate_pem());
    write_file(folder_ / "ops-key.pem", own.key_pem());
    const CliServer server{serving({"--tls-client-ca", folder_ / "clients.pem"})};
    Words shown{
        "config", "list", "--client-cert", folder_ / "ops.pem", "--client-key", folder_ / "ops-key.pem"};

    EXPECT_EQ(server.run(shown, believing()).ending.code, 0) << server.run(shown, believing()).errors;
    const CliResult without = server.run({"config", "list"}, believing());
    EXPECT_EQ(without.ending.code, 3);
    EXPECT_THAT(without.errors, AllOf(HasSubstr("wants a client certificate"), HasSubstr("--client-cert")));
    shown.resize(4);
    EXPECT_THAT(server.run(shown, believing()).errors, HasSubstr("belong together; give both"));
    EXPECT_EQ(server
                  .run({"bench", "slots", "--count", "10", "--client-cert", folder_ / "ops.pem",
                        "--client-key", folder_ / "ops-key.pem"},
                       believing())
                  .ending.code,
              0);
}

TEST_F(TlsCli, RefusesToStartWithFilesThatDoNotFit) {
    const auto refusal = [](const Words& words, int code) {
        Words all{"serve", "--listen", "127.0.0.1:0", "--store", "memory"};
        all.insert(all.end(), words.begin(), words.end());
        const CliResult result = run_cli(all);
        EXPECT_EQ(result.ending.code, code) << result.errors;
        return result.errors;
    };
    const std::string certificate = folder_ / "cert.pem";
    const std::string key = folder_ / "key.pem";

    EXPECT_THAT(refusal({"--tls-cert", certificate}, 2), HasSubstr("give --tls-cert and --tls-key"));
    EXPECT_THAT(refusal({"--tls-key", key}, 2), HasSubstr("give --tls-cert and --tls-key"));
    EXPECT_THAT(refusal({"--tls-client-ca", certificate}, 2), HasSubstr("give --tls-cert and --tls-key"));
    EXPECT_THAT(refusal({"--tls-cert", folder_ / "none", "--tls-key", key}, 1),
                HasSubstr("cannot be read: No such file or directory; correct the path"));
    EXPECT_THAT(refusal({"--tls-cert", certificate, "--tls-key", certificate}, 1),
                HasSubstr("holds no private key in PEM form"));
}

TEST_F(TlsCli, DoesNotFreeAListenerOfItsToken) {
    const CliResult result = run_cli({"serve", "--listen", "0.0.0.0:0", "--store", "memory", "--tls-cert",
                                      folder_ / "cert.pem", "--tls-key", folder_ / "key.pem"});

    EXPECT_EQ(result.ending.code, 2);
    EXPECT_THAT(result.errors, HasSubstr("give --token-file, or listen on 127.0.0.1."));
}

}  // namespace
}  // namespace sluice::test
