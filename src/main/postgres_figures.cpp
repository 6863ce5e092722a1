#include "main/postgres_figures.hpp"

#include "main/metric_families.hpp"
#include "store/postgres/client/server_lives.hpp"

namespace sluice {

void PostgresFigures::collect(MetricFamilies& families, postgres::Server& server) const {
    const postgres::PoolFigures pool = server.pool().figures();
    const postgres::ServerFigures lives = server.lives().figures();
    add_gauge(families, {"sluice_postgres_connections_in_use", "Connections that somebody uses."},
              static_cast<double>(pool.in_use));
    add_gauge(families, {"sluice_postgres_connections_idle", "Open connections that nobody uses."},
              static_cast<double>(pool.idle));
    add_gauge(families, {"sluice_postgres_callers_waiting", "Callers that wait for a connection."},
              static_cast<double>(pool.waiting));
    add_gauge(families, {"sluice_postgres_timeline", "The newest timeline of the server that was seen."},
              static_cast<double>(lives.timeline));
    add_counter(families,
                {"sluice_postgres_strays_refused_total", "Connections to an old primary, not used."},
                static_cast<double>(lives.strays_refused));
    add_counter(families,
                {"sluice_postgres_sessions_ended_total", "Sessions left on the server, ended later."},
                static_cast<double>(lives.sessions_ended));
    add_histogram(families, {"sluice_postgres_wait_seconds", "How long callers waited for a connection."},
                  waits_, 1e-9);
}

}  // namespace sluice
