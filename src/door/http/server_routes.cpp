#include "door/http/server_desk.hpp"

namespace sluice::http {
namespace {

constexpr std::array kFrontPage{gives(200, "FrontPage")};
constexpr std::array kSettings{gives(200, "ServerSettings")};
constexpr std::array kLive{gives(200, "Status")};
constexpr std::array kReady{gives(200, "Readiness"), gives(503, "Readiness")};
constexpr std::array kMetrics{gives(200, "Metrics", "text/plain; version=0.0.4; charset=utf-8")};
constexpr std::array kOpenapi{gives(200, "OpenapiDocument")};

constexpr std::array kRoutes{
    Route{"GET", "/healthz", "getHealthz", on<health_live>(), kLive},
    Route{"GET", "/q/health/live", "getHealthLive", on<health_live>(), kLive},
    Route{"GET", "/readyz", "getReadyz", on<health_ready>(), kReady},
    Route{"GET", "/q/health/ready", "getHealthReady", on<health_ready>(), kReady},
    Route{"GET", "/metrics", "getMetrics", on<metrics>(), kMetrics},
    Route{"GET", "/q/metrics", "getQMetrics", on<metrics>(), kMetrics},
    Route{"GET", "/openapi.json", "getOpenapi", on<openapi>(), kOpenapi},
    guarded({"GET", "/admin/settings", "getSettings", on<settings>(), kSettings}),
    Route{"GET", "/", "getFrontPage", on<front_page>(), kFrontPage},
};

}  // namespace

std::span<const Route> server_routes() { return kRoutes; }

}  // namespace sluice::http
