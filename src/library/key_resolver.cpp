#include <sluice/key_resolver.hpp>

namespace sluice {
namespace {

std::optional<std::string> unless_empty(std::optional<std::string> key) {
    return key && key->empty() ? std::nullopt : key;
}

}  // namespace

std::optional<std::string> HeaderKeyResolver::resolve(const RequestSource& source) const {
    return unless_empty(source.header(header_));
}

std::optional<std::string> PrincipalKeyResolver::resolve(const RequestSource& source) const {
    return unless_empty(source.principal());
}

}  // namespace sluice
