#include <csignal>
#include <stdexcept>

#include "net/tls_server.hpp"
#include "support/certificates.hpp"
#include "support/raw_stream.hpp"
#include "support/temp_folder.hpp"
#include "support/tls_peer.hpp"

namespace sluice::test {
namespace {

std::unique_ptr<net::TlsServer> make_door_tls() {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to what the server may have closed.
    const TempFolder folder;
    const Certificate own = Certificate::authority("the tests").issue(for_this_machine());
    write_file(folder / "cert.pem", own.certificate_pem());
    write_file(folder / "key.pem", own.key_pem());
    return net::TlsServer::open({folder / "cert.pem", folder / "key.pem", ""}, "http/1.1").value();
}

}  // namespace

TlsWish& raw_wish() {
    static TlsWish wish;
    return wish;
}

std::unique_ptr<RawStream> RawStream::open(std::uint16_t port) {
    return std::make_unique<TlsPeer>(port, raw_wish());
}

const net::TlsServer* door_tls() {
    static const std::unique_ptr<net::TlsServer> kTls = make_door_tls();
    return kTls.get();
}

}  // namespace sluice::test
