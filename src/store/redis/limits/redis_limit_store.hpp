#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "app/limits/limit_store.hpp"
#include "app/server_watch.hpp"

namespace sluice {

struct RedisOptions {
    // `host:port`, `redis://user:password@host:port`, `rediss://...` for TLS,
    // `redis+sentinel://host:port,host:port/master`, `redis+cluster://host:port,host:port`.
    std::string address;
    // How long a call may take; what has no answer by then gets LimitFault::Unavailable.
    std::chrono::milliseconds timeout{50};
    // How long setting up a connection may take. Callers do not wait for it longer than `timeout`.
    std::chrono::milliseconds connect_timeout{1000};
    std::size_t connections_max = 8;  // To each server.
    // How long those wait who ask the store, if longer than `timeout`; and who hears of servers that do not
    // answer, for as long as the store lives: see ServerWatch.
    std::chrono::milliseconds patience{0};
    ServerObserver* observer = nullptr;
    Runtime* runtime = nullptr;  // Outlives the store. Null: it has one of its own.
    // A server that may evict keys forgets limits that are still running.
    bool allow_eviction = false;
    // Over TLS: whom to believe (empty: the system's authorities), and who we are (empty: nobody).
    std::string tls_ca_file{};
    std::string tls_certificate_file{};
    std::string tls_key_file{};
};

// Limits in Redis 7, shared by all processes that use the same server: one script call for each check,
// decided by the server's clock. A take() of several checks is one round trip to each server concerned.
// Checks of one key keep their order, except where the script had to be loaded or a slot has moved in
// between.
//
// take_together: in a Cluster all keys must share a slot, otherwise LimitFault::Apart. Overrides live in
// Redis too, as many as it holds: put_override never says Full. A hash that another version wrote gets its
// checks LimitFault::Unavailable, and no others.
//
// Each server has a ServerWatch. While that calls it down, its keys, and no others, get
// LimitFault::Unavailable at once.
//
// Connects, runs the script once, and fails with one sentence if that is not possible, if the server refuses
// the password or the script, may evict keys, or is a replica or a node of a Cluster where the address names
// one server. Afterwards connections that are lost are made again in the background. A server that has
// become a replica answers nothing: LimitFault::Unavailable.
Result<std::unique_ptr<LimitStore>, std::string> open_redis_limit_store(const RedisOptions& options);

}  // namespace sluice
