#pragma once

#include "store/redis/client/reply.hpp"

// What a server's errors mean for the call that got them.
namespace sluice::redis {

// An error that sends the caller somewhere else, or to try again: the server is at work.
bool redirects(const ReplyView& reply);

// An error that is no matter of a single key: the server does not do what it is asked at all.
bool refuses_work(const ReplyView& reply);

}  // namespace sluice::redis
