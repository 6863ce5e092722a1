#pragma once

#include "door/http/exchange.hpp"

namespace sluice::http {

using Answer = boost::asio::awaitable<Response>;

Answer assign_slot(const ServerWorld& world, const Request& request);
Answer assign_batch(const ServerWorld& world, const Request& request);
Answer quote_slot(const ServerWorld& world, const Request& request);
Answer get_slot(const ServerWorld& world, const Request& request);
Answer cancel_slot(const ServerWorld& world, const Request& request);
Answer move_slot(const ServerWorld& world, const Request& request);
Answer list_windows(const ServerWorld& world, const Request& request);

Answer get_config(const ServerWorld& world, const Request& request);
Answer set_config(const ServerWorld& world, const Request& request);
Answer get_config_history(const ServerWorld& world, const Request& request);
Answer list_configs(const ServerWorld& world, const Request& request);
Answer flush_cache(const ServerWorld& world, const Request& request);

Answer check_limits(const ServerWorld& world, const Request& request);
Answer check_limits_batch(const ServerWorld& world, const Request& request);
Answer refund_tokens(const ServerWorld& world, const Request& request);
Answer release_lease(const ServerWorld& world, const Request& request);
Answer authorize(const ServerWorld& world, const Request& request);

Response list_plans(const ServerWorld& world, const Request& request);
Response get_plan(const ServerWorld& world, const Request& request);
Answer put_plan(const ServerWorld& world, const Request& request);
Answer remove_plan(const ServerWorld& world, const Request& request);
Answer inspect_key(const ServerWorld& world, const Request& request);
Answer reset_key(const ServerWorld& world, const Request& request);
Answer override_key(const ServerWorld& world, const Request& request);

// Tells the log who changed what.
void audit(const ServerWorld& world, const Request& request, const std::string& what);

Response front_page(const ServerWorld& world, const Request& request);
Response settings(const ServerWorld& world, const Request& request);
Response health_live(const ServerWorld& world, const Request& request);
Answer health_ready(const ServerWorld& world, const Request& request);
Response metrics(const ServerWorld& world, const Request& request);
Response openapi(const ServerWorld& world, const Request& request);

}  // namespace sluice::http
