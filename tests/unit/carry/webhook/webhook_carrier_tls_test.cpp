// Webhooks over TLS: only to whom an authority vouches for, under the name that the URL has.
#include <gmock/gmock.h>

#include "support/certificates.hpp"
#include "support/temp_folder.hpp"
#include "unit/carry/webhook/webhook_fixture.hpp"

namespace sluice {
namespace {

using test::Certificate;
using test::http_answer;
using test::ScriptedServer;
using ::testing::HasSubstr;
using Kind = Delivery::Kind;

class AWebhookCarrierOverTls : public test::WebhookTest {
protected:
    AWebhookCarrierOverTls() {
        test::write_file(folder_ / "ca.pem", authority_.certificate_pem());
        options_.authorities = folder_ / "ca.pem";
    }

    ScriptedServer& serve(const test::CertificateWords& words) {
        const Certificate own = authority_.issue(words);
        test::write_file(folder_ / "cert.pem", own.certificate_pem());
        test::write_file(folder_ / "key.pem", own.key_pem());
        server_ = std::make_unique<ScriptedServer>(
            std::vector<ScriptedServer::Line>{seen_.answer_all(http_answer("200 OK", {}, "safe"))},
            folder_ / "cert.pem", folder_ / "key.pem");
        return *server_;
    }

    static std::string url_of(const ScriptedServer& server) {
        return "https://localhost:" + std::to_string(server.port()) + "/hook";
    }

    test::TempFolder folder_;
    Certificate authority_ = Certificate::authority("tests");
};

TEST_F(AWebhookCarrierOverTls, CallsAServerThatItsAuthorityVouchesFor) {
    const ScriptedServer& server = serve(test::for_this_machine());

    for (int i = 0; i < 5; ++i) {
        const Delivery delivery = send(parcel(url_of(server)));
        EXPECT_EQ(delivery.kind, Kind::Done) << delivery.error;
        EXPECT_EQ(delivery.excerpt, "safe");
    }

    EXPECT_EQ(server.accepted(), 1U);
    EXPECT_EQ(seen_.all().size(), 5U);
}

TEST_F(AWebhookCarrierOverTls, SendsNothingToAServerOfAnotherName) {
    const ScriptedServer& server = serve({"else", "DNS:else.example"});

    const Delivery delivery = send(parcel(url_of(server)));

    EXPECT_EQ(delivery.kind, Kind::Failed);
    EXPECT_THAT(delivery.error, HasSubstr("for another name than 'localhost'"));
    EXPECT_TRUE(seen_.all().empty());
}

TEST_F(AWebhookCarrierOverTls, SendsNothingToAServerThatNobodyVouchesFor) {
    const ScriptedServer& server = serve(test::for_this_machine());
    options_.authorities.clear();

    const Delivery delivery = send(parcel(url_of(server)));

    EXPECT_EQ(delivery.kind, Kind::Failed);
    EXPECT_THAT(delivery.error, HasSubstr("no authority known here vouches for"));
    EXPECT_TRUE(seen_.all().empty());
}

}  // namespace
}  // namespace sluice
