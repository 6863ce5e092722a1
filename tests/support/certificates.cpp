#include "support/certificates.hpp"

#include <fstream>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace sluice::test {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certified = std::unique_ptr<X509, decltype(&X509_free)>;

void must(bool well) {
    if (!well) {
        throw std::runtime_error{"a certificate could not be made"};
    }
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context{};
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    must(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
    X509_EXTENSION_free(extension);
}

template <class Write>
std::string pem(Write write) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> memory{BIO_new(BIO_s_mem()), &BIO_free};
    must(write(memory.get()) == 1);
    char* data = nullptr;
    const long size = BIO_ctrl(memory.get(), BIO_CTRL_INFO, 0, &data);
    return {data, static_cast<std::size_t>(size)};
}

}  // namespace

struct Certificate::Parts {
    Key key{EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), &EVP_PKEY_free};
    Certified certificate{X509_new(), &X509_free};
};

Certificate Certificate::make(const CertificateWords& words, const Parts* issuer) {
    auto made = std::make_shared<Parts>();
    X509* const certificate = made->certificate.get();
    X509* const vouching = issuer == nullptr ? certificate : issuer->certificate.get();
    must(made->key && certificate != nullptr && X509_set_version(certificate, 2) == 1);
    std::uint32_t serial = 0;
    must(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1);
    ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), words.from.count());
    X509_gmtime_adj(X509_getm_notAfter(certificate), words.until.count());
    const auto* const name = reinterpret_cast<const unsigned char*>(words.name.c_str());
    must(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, name, -1, -1,
                                    0) == 1);
    must(X509_set_issuer_name(certificate, X509_get_subject_name(vouching)) == 1);
    must(X509_set_pubkey(certificate, made->key.get()) == 1);
    if (issuer == nullptr) {
        add_extension(certificate, vouching, NID_basic_constraints, "critical,CA:TRUE");
    }
    if (!words.alternatives.empty()) {
        add_extension(certificate, vouching, NID_subject_alt_name, words.alternatives);
    }
    must(X509_sign(certificate, (issuer == nullptr ? *made : *issuer).key.get(), EVP_sha256()) > 0);
    return Certificate{std::move(made)};
}

Certificate Certificate::authority(const std::string& name) { return make({name}, nullptr); }

Certificate Certificate::issue(const CertificateWords& words) const { return make(words, parts_.get()); }

std::string Certificate::certificate_pem() const {
    return pem([this](BIO* out) { return PEM_write_bio_X509(out, parts_->certificate.get()); });
}

std::string Certificate::key_pem() const {
    return pem([this](BIO* out) {
        return PEM_write_bio_PrivateKey(out, parts_->key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
}

void write_file(const std::string& path, const std::string& content) {
    std::ofstream file{path, std::ios::trunc};
    file << content;
    must(file.flush().good());
}

}  // namespace sluice::test
