// The functions that SQL calls. Each ends in PostgreSQL's own types; the work is done elsewhere.

#include "at_commit.hpp"
#include "history.hpp"
#include "json_text.hpp"
#include "max_wal_size.hpp"
#include "postgres_api.hpp"
#include "recommendation.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "standing.hpp"
#include "superuser.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(walrus_status);
PG_FUNCTION_INFO_V1(walrus_recommendation);
PG_FUNCTION_INFO_V1(walrus_analyze);
PG_FUNCTION_INFO_V1(walrus_reset);
PG_FUNCTION_INFO_V1(walrus_cleanup_history);
PG_FUNCTION_INFO_V1(walrus_metrics);
}

namespace sluice::walrus {
namespace {

void require_preload() {
    if (!is_preloaded()) {
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("walrus must be loaded via shared_preload_libraries"),
                        errhint("Add walrus to shared_preload_libraries and restart the server.")));
    }
}

// A superuser, or a member of the role walrus_admin where there is one.
void require_admin(const char* what) {
    if (superuser()) {
        return;
    }
    const Oid admins = get_role_oid("walrus_admin", true);
    if (!OidIsValid(admins) || !has_privs_of_role(GetUserId(), admins)) {
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied to %s", what),
                        errhint("Only superusers and members of the role walrus_admin may do so.")));
    }
}

// Makes the change, past the governor: the row now, the size with the commit.
void apply_by_hand(const Recommendation& recommendation) {
    JsonText metadata;
    metadata.text("source", "walrus.analyze");
    metadata.number("confidence", recommendation.confidence);
    const HistoryRow row{.action = recommendation.action,
                         .old_size = recommendation.current,
                         .new_size = recommendation.recommended,
                         .requested = recommendation.requested,
                         .reason = recommendation.reason,
                         .metadata = metadata.finish()};
    change_size_at_commit(recommendation.current, recommendation.recommended);
    write_history(row);
    notify_change(row);
}

bool try_to_apply(const Recommendation& recommendation) {
    if (!recommendation.is_change()) {
        return false;
    }
    if (is_fixed_by_command_line()) {
        ereport(WARNING, (errmsg("max_wal_size is set on the server's command line and cannot be changed by"
                                 " ALTER SYSTEM")));
        return false;
    }
    if (!is_size_noted()) {  // Asked twice in one transaction, it is still one change.
        as_superuser([&recommendation] { apply_by_hand(recommendation); });
    }
    return true;
}

Datum analyze(bool apply) {
    JsonText json;
    if (!settings().enable) {
        json.flag("analyzed", false);
        json.text("reason", "extension is disabled");
        return json.finish_jsonb();
    }
    const Recommendation recommendation = recommend();
    JsonText inner;
    describe(recommendation, inner);
    json.flag("analyzed", true);
    json.object("recommendation", inner);
    json.flag("applied", apply && try_to_apply(recommendation));
    return json.finish_jsonb();
}

}  // namespace
}  // namespace sluice::walrus

using namespace sluice::walrus;  // NOLINT(google-build-using-namespace)

Datum walrus_status(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    require_preload();
    JsonText json;
    describe_status(json);
    return json.finish_jsonb();
}

Datum walrus_recommendation(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    require_preload();
    JsonText json;
    describe(recommend(), json);
    return json.finish_jsonb();
}

Datum walrus_analyze(PG_FUNCTION_ARGS) {
    const bool apply = PG_GETARG_BOOL(0);
    if (apply) {
        require_admin("change max_wal_size with walrus.analyze()");
    }
    require_preload();
    return analyze(apply);
}

Datum walrus_reset(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    require_admin("reset walrus");
    require_preload();
    as_superuser([] { remove_all_history(); });
    forget_at_commit();
    PG_RETURN_BOOL(true);
}

Datum walrus_cleanup_history(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    require_admin("remove history of walrus");
    require_preload();
    std::int64_t removed = 0;
    as_superuser([&removed] { removed = remove_old_history(); });
    PG_RETURN_INT64(removed);
}

Datum walrus_metrics(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    require_preload();
    PG_RETURN_TEXT_P(cstring_to_text(metrics_text()));
}
