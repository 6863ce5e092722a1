#include "door/http/dispatch_desk.hpp"

namespace sluice::http {
namespace {

// Of any JSON body.
constexpr std::string_view kBadBody = "malformed_json invalid_number unknown_field";
constexpr std::string_view kNoWork = "not_supported";
constexpr std::string_view kStoreFails = "store_unavailable";

constexpr std::array kListWork{
    gives(200, "WorkPage"),
    refuses(400, kNoWork),
    refuses(400, "invalid_state invalid_config_name invalid_subject invalid_after invalid_number"),
    refuses(503, kStoreFails),
};
constexpr std::array kShowDispatch{
    gives(200, "DispatchOverview"),
    refuses(400, kNoWork),
    refuses(503, kStoreFails),
};
constexpr std::array kReplayWork{
    gives(200, "Replayed"),
    refuses(400, kBadBody),
    refuses(400, kNoWork),
    refuses(400, "invalid_subject invalid_events invalid_event_id invalid_time time_out_of_range"),
    refuses(503, kStoreFails),
};
constexpr std::array kPauseOrResume{
    gives(200, "SubjectStatus"),     refuses(400, kBadBody),    refuses(400, kNoWork),
    refuses(400, "invalid_subject"), refuses(503, kStoreFails),
};
constexpr std::array kPutRate{
    gives(200, "SubjectRate"), refuses(400, kBadBody),
    refuses(400, kNoWork),     refuses(400, "invalid_subject invalid_rate_holds"),
    refuses(503, kStoreFails),
};
constexpr std::array kAskPermit{
    gives(200, "Permit"),         refuses(400, kBadBody),       refuses(400, kNoWork),
    refuses(400, "invalid_gate"), refuses(404, "unknown_gate"), refuses(429, "gate_busy"),
    refuses(503, "not_keeper"),   refuses(503, kStoreFails),
};
constexpr std::array kEndPermit{
    gives_nothing(204),
    refuses(400, kNoWork),
    refuses(400, "invalid_permit"),
    refuses(503, kStoreFails),
};

constexpr std::array kRoutes{
    Route{"GET", "/api/v1/work", "listWork", on<list_work>(), kListWork},
    Route{"POST", "/api/v1/permits", "askPermit", on<ask_permit>(), kAskPermit, json_body("PermitRequest")},
    Route{"DELETE", "/api/v1/permits/{id}", "endPermit", on<end_permit>(), kEndPermit},
    guarded({"GET", "/admin/dispatch", "showDispatch", on<show_dispatch>(), kShowDispatch}),
    guarded({"POST", "/admin/dispatch/replay", "replayWork", on<replay_work>(), kReplayWork,
             json_body("Replay")}),
    guarded({"POST", "/admin/dispatch/pause", "pauseDispatch", on<pause_dispatch>(), kPauseOrResume,
             json_body("Subject")}),
    guarded({"POST", "/admin/dispatch/resume", "resumeDispatch", on<resume_dispatch>(), kPauseOrResume,
             json_body("Subject")}),
    guarded({"PUT", "/admin/dispatch/rates", "putDispatchRate", on<put_dispatch_rate>(), kPutRate,
             json_body("RateDraft")}),
};

}  // namespace

std::span<const Route> dispatch_routes() { return kRoutes; }

}  // namespace sluice::http
