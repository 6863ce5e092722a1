#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_function.hpp"
#include "door/http/route.hpp"

namespace sluice::http {

// How a part is, as /readyz tells it.
struct PartState {
    bool ready = true;           // False: the server is down.
    std::string_view trouble{};  // What needs a look; empty when nothing does. Static storage.
};

// A part that can be asked how it is; any thread may complete the answer.
struct AskedPart {
    std::string_view name;  // Its field in the answer. Static storage.
    std::function<void(UniqueFunction<void(PartState)>)> ask;
};

// What the routes of the server itself work with: health, metrics, settings and the description.
struct ServerDesk : Desk {
    std::vector<AskedPart> parts{};
    std::function<std::string()> metrics_text = [] { return std::string{}; };
    std::function<std::string()> settings_json = [] { return std::string{"{}"}; };  // Without secrets.
    std::string_view openapi_json = "{}";
};

std::span<const Route> server_routes();

Response front_page(const ServerDesk& desk, const Request& request);
Response settings(const ServerDesk& desk, const Request& request);
Response health_live(const ServerDesk& desk, const Request& request);
Answer health_ready(const ServerDesk& desk, const Request& request);
Response metrics(const ServerDesk& desk, const Request& request);
Response openapi(const ServerDesk& desk, const Request& request);

}  // namespace sluice::http
