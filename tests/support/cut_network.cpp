#include "support/cut_network.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

namespace sluice::test {

std::string shell(const std::string& command) {
    FILE* output = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c): the tests' own commands.
    if (output == nullptr) {
        throw std::runtime_error{"cannot run " + command};
    }
    std::string text;
    std::array<char, 256> part{};
    while (::fgets(part.data(), static_cast<int>(part.size()), output) != nullptr) {
        text += part.data();
    }
    if (::pclose(output) != 0) {
        throw std::runtime_error{"failed: " + command};
    }
    return text;
}

CutNetwork::CutNetwork() : name_{"sluice-" + std::to_string(::getpid())} {
    // Links are made inside: this machine's own network is not touched.
    shell("set -e; for one in node router server; do ip netns add " + name_ + "-$one; done; " + at("node") +
          "ip link set lo up; " + at("router") + "ip link set lo up; " + at("server") +
          "ip link set lo up; " + at("router") + "ip link add to-node type veth peer name eth0 netns " +
          name_ + "-node; " + at("router") + "ip link add to-server type veth peer name eth0 netns " + name_ +
          "-server; " + at("router") + "ip addr add 10.213.1.1/24 dev to-node; " + at("router") +
          "ip addr add 10.213.2.1/24 dev to-server; " + at("router") + "ip link set to-node up; " +
          at("router") + "ip link set to-server up; " + at("node") + "ip addr add 10.213.1.2/24 dev eth0; " +
          at("server") + "ip addr add 10.213.2.2/24 dev eth0; " + at("node") + "ip link set eth0 up; " +
          at("server") + "ip link set eth0 up; " + at("node") + "ip route add default via 10.213.1.1; " +
          at("server") + "ip route add default via 10.213.2.1; " + at("router") +
          "sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'");
}

CutNetwork::~CutNetwork() {
    try {
        shell("for one in node router server; do ip netns del " + name_ + "-$one; done");
    } catch (const std::exception& problem) {
        std::fputs(problem.what(), stderr);
    }
}

void CutNetwork::at_node(const std::function<void()>& work) const {
    std::exception_ptr thrown;
    std::thread{[&] {
        // A namespace is a thread's own.
        const int there = ::open(("/run/netns/" + name_ + "-node").c_str(), O_RDONLY | O_CLOEXEC);
        try {
            if (there < 0 || ::setns(there, CLONE_NEWNET) != 0) {
                throw std::runtime_error{"cannot enter the namespace of the node"};
            }
            work();
        } catch (...) {
            thrown = std::current_exception();
        }
        ::close(there);
    }}.join();
    if (thrown) {
        std::rethrow_exception(thrown);
    }
}

void CutNetwork::cut() const {
    for (const char* side : {"10.213.1.0/25", "10.213.2.0/25"}) {  // More exact than the links' own routes.
        shell(at("router") + "ip route add blackhole " + side);
    }
}

void CutNetwork::heal() const {
    for (const char* side : {"10.213.1.0/25", "10.213.2.0/25"}) {
        shell(at("router") + "ip route del blackhole " + side);
    }
}

void CutNetwork::move_node() {
    const std::string in_node = at("node") + "ip ";
    const std::string before = "10.213.1." + std::to_string(node_);
    ++node_;
    // The kernel goes on sending from the old address what it still has for it.
    shell(at("router") + "ip rule add from " + before + " blackhole; " + in_node + "addr del " + before +
          "/24 dev eth0; " + in_node + "addr add 10.213.1." + std::to_string(node_) + "/24 dev eth0; " +
          in_node + "route add default via 10.213.1.1");
}

}  // namespace sluice::test
