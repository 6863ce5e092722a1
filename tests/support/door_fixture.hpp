#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "app/slots/slot_ledger.hpp"
#include "app/slots/slot_service.hpp"
#include "door/http/dispatch_desk.hpp"
#include "door/http/http_server.hpp"
#include "door/http/limit_desk.hpp"
#include "door/http/openapi.hpp"
#include "door/http/readiness.hpp"
#include "door/http/routes.hpp"
#include "door/http/slot_desk.hpp"
#include "store/memory/memory_limit_store.hpp"
#include "store/memory/memory_slot_tables.hpp"
#include "support/counting_limit_metrics.hpp"
#include "support/counting_metrics.hpp"
#include "support/faulty_limit_store.hpp"
#include "support/hand_clock.hpp"
#include "support/hand_moment_clock.hpp"
#include "support/raw_http.hpp"
#include "support/recording_log.hpp"
#include "support/slot_words.hpp"
#include "support/work_world.hpp"

namespace sluice::test {

// A door on a free port over memory stores, with the config "default" of 10 per PT4S and no plans. The clocks
// stand at kNoon.
class DoorFixture : public ::testing::Test {
protected:
    // `work` is what the store keeps of work; null: none. It outlives the fixture.
    explicit DoorFixture(http::ServerOptions options = {}, LedgerOptions ledger = {},
                         const LimitServiceOptions& limits = {}, WorkWorld* work = nullptr) {
        options.port = 0;
        options.io_threads = 2;
        if (options.tls == nullptr) {
            options.tls = door_tls();
        }
        store_ = make_slot_ledger(make_memory_slot_tables(), ledger, {clock_, metrics_, log_});
        const Carriers* carriers = work == nullptr ? nullptr : &work->carriers;
        if (work != nullptr) {
            store_ = std::make_unique<WorkKeepingStore>(std::move(store_), *work);
            dispatch_.emplace(
                DispatchServiceOptions{},
                DispatchServiceWorld{work->works, clock_, log_, *runtime_, [work] { return work->figures; }});
        }
        service_ = std::make_unique<SlotService>(SlotServiceOptions{},
                                                 SlotServiceWorld{*store_, metrics_, log_, *runtime_});
        limits_ = std::make_unique<LimitService>(
            limits, LimitServiceWorld{limit_store_, *local_limits_, plans_, limit_metrics_, limit_servers_,
                                      *runtime_});
        slot_desk_ = std::make_unique<http::SlotDesk>(*service_, config("default"), clock_, log_, carriers);
        dispatch_desk_ = std::make_unique<http::DispatchDesk>(
            work == nullptr
                ? std::nullopt
                : std::optional{http::DispatchDesk::Works{*dispatch_, work->permits(), work->carriers}},
            clock_, log_);
        limit_desk_ = std::make_unique<http::LimitDesk>(*limits_, clock_, log_);
        server_desk_.parts = {http::asked_part(*service_), http::asked_part(*limits_)};
        server_desk_.metrics_text = [] { return std::string{"metrics\n"}; };
        server_desk_.openapi_json = http::openapi_json();
        const std::array tables{http::RouteTable{http::slot_routes(), slot_desk_.get()},
                                http::RouteTable{http::dispatch_routes(), dispatch_desk_.get()},
                                http::RouteTable{http::limit_routes(), limit_desk_.get()},
                                http::RouteTable{http::server_routes(), &server_desk_}};
        server_ = http::start_server(options, {gate_, log_, tables}).value();
        EXPECT_EQ(post("/admin/rate-limit/config",
                       R"({"configName":"default","maxPerWindow":10,"windowSize":"PT4S"})")
                      .status,
                  200);
    }
    ~DoorFixture() override {
        server_->drain(std::chrono::seconds{5});
        service_->stop();
        if (dispatch_) {
            dispatch_->stop();
        }
        limits_->stop();
    }

    [[nodiscard]] std::uint16_t port() const { return server_->port(); }
    HttpAnswer get(std::string_view target) const { return call(port(), "GET", target); }
    HttpAnswer post(std::string_view target, std::string_view body) const {
        return call(port(), "POST", target, body);
    }
    HttpAnswer assign_at_noon(std::string_view event_id) const {
        std::string body = R"({"eventId":")";
        body += event_id;
        body += R"(","requestedTime":"2025-06-01T12:00:00Z"})";
        return post("/api/v1/slots", body);
    }
    // All that a refused request could have changed.
    std::string state() const {
        return get("/api/v1/windows?from=2025-06-01T11:00:00Z&to=2025-06-01T13:00:00Z").body +
               get("/admin/rate-limit/config/history").body;
    }

    const std::unique_ptr<Runtime> runtime_ = make_machine_runtime();
    HandClock clock_{kNoon};
    CountingMetrics metrics_;
    RecordingLog log_;
    http::AdminGate gate_;
    std::unique_ptr<SlotStore> store_;
    std::unique_ptr<SlotService> service_;
    std::optional<DispatchService> dispatch_;
    HandMomentClock limit_clock_{kNoon};
    std::unique_ptr<MemoryLimitStore> memory_limits_ =
        make_memory_limit_store({.keys_max = 1'000, .seed = 1}, limit_clock_);
    std::unique_ptr<MemoryLimitStore> local_limits_ =
        make_memory_limit_store({.keys_max = 1'000, .seed = 2}, limit_clock_);
    FaultyLimitStore limit_store_{*memory_limits_};
    PlanBook plans_;
    CountingLimitMetrics limit_metrics_;
    LimitServers limit_servers_{log_, limit_metrics_};
    std::unique_ptr<LimitService> limits_;
    std::unique_ptr<http::SlotDesk> slot_desk_;
    std::unique_ptr<http::DispatchDesk> dispatch_desk_;
    std::unique_ptr<http::LimitDesk> limit_desk_;
    http::ServerDesk server_desk_;
    std::unique_ptr<http::Server> server_;
};

}  // namespace sluice::test
