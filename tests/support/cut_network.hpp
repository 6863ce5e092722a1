#pragma once

#include <functional>
#include <string>

namespace sluice::test {

// A node and a server with a router between them, each in a network namespace of its own. The router can be
// cut: then packets vanish, and nobody is told. Needs root and iproute2.
class CutNetwork {
public:
    CutNetwork();
    ~CutNetwork();
    CutNetwork(const CutNetwork&) = delete;
    CutNetwork& operator=(const CutNetwork&) = delete;

    // Put before a command, it runs there.
    [[nodiscard]] std::string at_server() const { return at("server"); }
    [[nodiscard]] std::string server_address() const { return "10.213.2.2"; }

    // Runs it at the node. Threads and processes that it starts stay there.
    void at_node(const std::function<void()>& work) const;

    void cut() const;
    void heal() const;

    // Gives the node another address. Nobody answers at the old one: connections stay behind at the server.
    void move_node();

private:
    // By nsenter: `ip -n` and `ip netns exec` also want a new view of the mounts, which is refused where / is
    // no mount point.
    [[nodiscard]] std::string at(const std::string& one) const {
        return "nsenter --net=/run/netns/" + name_ + "-" + one + " ";
    }

    const std::string name_;
    int node_ = 2;  // The last part of the node's address.
};

// Runs a command of the shell, and gives what it prints. Throws when it fails.
std::string shell(const std::string& command);

}  // namespace sluice::test
