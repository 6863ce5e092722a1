#include "door/http/await_done.hpp"
#include "door/http/server_desk.hpp"

namespace sluice::http {

Response front_page(const ServerDesk& /*desk*/, const Request& /*request*/) {
    return answer_json(
        R"({"service":"sluice","paths":{"slots":"/api/v1/slots","check":"/api/v1/check",)"
        R"("windows":"/api/v1/windows","configs":"/admin/rate-limit/configs","plans":"/admin/plans",)"
        R"("settings":"/admin/settings","ready":"/readyz","metrics":"/metrics",)"
        R"("everything":"/openapi.json"}})");
}

Response settings(const ServerDesk& desk, const Request& /*request*/) {
    return answer_json(desk.settings_json());
}

Response health_live(const ServerDesk& /*desk*/, const Request& /*request*/) {
    return answer_json(R"({"status":"ok"})");
}

// The parts are asked one after the other, up to the first that is not ready.
Answer health_ready(const ServerDesk& desk, const Request& /*request*/) {
    bool well = true;
    std::string states;
    for (const AskedPart& part : desk.parts) {
        auto start = [&](UniqueFunction<void(PartState)> done) { part.ask(std::move(done)); };
        const auto state = co_await await_done<PartState>(start);
        if (!state->ready) {
            co_return Response{503, "application/json",
                               R"({"status":"down",")" + std::string{part.name} + R"(":")" +
                                   std::string{state->trouble} + R"("})",
                               "Retry-After: 1\r\n"};
        }
        well = well && state->trouble.empty();
        states += R"(,")" + std::string{part.name} + R"(":")" +
                  std::string{state->trouble.empty() ? "ok" : state->trouble} + '"';
    }
    co_return answer_json(R"({"status":")" + std::string{well ? "ok" : "degraded"} + '"' + states + '}');
}

Response metrics(const ServerDesk& desk, const Request& /*request*/) {
    return {200, "text/plain; version=0.0.4; charset=utf-8", desk.metrics_text()};
}

Response openapi(const ServerDesk& desk, const Request& /*request*/) {
    return answer_json(std::string{desk.openapi_json});
}

}  // namespace sluice::http
