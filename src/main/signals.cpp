#include "main/signals.hpp"

#include <initializer_list>

#include <pthread.h>

namespace sluice {

Signals::Signals() {
    ::sigemptyset(&awaited_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        ::sigaddset(&awaited_, signal);
        std::signal(signal, SIG_DFL);
    }
    std::signal(SIGPIPE, SIG_IGN);
    ::pthread_sigmask(SIG_BLOCK, &awaited_, nullptr);
}

int Signals::wait() const {
    int signal = 0;
    ::sigwait(&awaited_, &signal);
    return signal;
}

void Signals::let_through() {
    sigset_t ending{};
    ::sigemptyset(&ending);
    ::sigaddset(&ending, SIGTERM);
    ::sigaddset(&ending, SIGINT);
    ::pthread_sigmask(SIG_UNBLOCK, &ending, nullptr);
}

}  // namespace sluice
