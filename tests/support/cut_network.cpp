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
    // Links are made inside: this machine's own network is not touched. Entered by nsenter: `ip netns exec`
    // also wants a new view of the mounts, which there is not in every container.
    shell("set -e; for one in node router server; do ip netns add " + name_ + "-$one;" + " ip -n " + name_ +
          "-$one link set lo up; done;" + " in_router='ip -n " + name_ + "-router';" +
          " $in_router link add to-node type veth peer name eth0 netns " + name_ + "-node;" +
          " $in_router link add to-server type veth peer name eth0 netns " + name_ + "-server;" +
          " $in_router addr add 10.213.1.1/24 dev to-node; $in_router addr add 10.213.2.1/24 dev to-server;" +
          " $in_router link set to-node up; $in_router link set to-server up;" + " ip -n " + name_ +
          "-node addr add 10.213.1.2/24 dev eth0;" + " ip -n " + name_ +
          "-server addr add 10.213.2.2/24 dev eth0;" + " for one in node server; do ip -n " + name_ +
          "-$one link set eth0 up; done;" + " ip -n " + name_ + "-node route add default via 10.213.1.1;" +
          " ip -n " + name_ + "-server route add default via 10.213.2.1;" + " nsenter --net=/run/netns/" +
          name_ + "-router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'");
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
        shell("ip -n " + name_ + "-router route add blackhole " + side);
    }
}

void CutNetwork::heal() const {
    for (const char* side : {"10.213.1.0/25", "10.213.2.0/25"}) {
        shell("ip -n " + name_ + "-router route del blackhole " + side);
    }
}

void CutNetwork::move_node() {
    const std::string in_node = "ip -n " + name_ + "-node ";
    const std::string before = "10.213.1." + std::to_string(node_);
    ++node_;
    // The kernel goes on sending from the old address what it still has for it.
    shell("ip -n " + name_ + "-router rule add from " + before + " blackhole; " + in_node + "addr del " +
          before + "/24 dev eth0; " + in_node + "addr add 10.213.1." + std::to_string(node_) +
          "/24 dev eth0; " + in_node + "route add default via 10.213.1.1");
}

}  // namespace sluice::test
