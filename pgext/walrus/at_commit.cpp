#include "at_commit.hpp"

#include "max_wal_size.hpp"
#include "postgres_api.hpp"
#include "standing.hpp"
#include "superuser.hpp"

namespace sluice::walrus {
namespace {

// Something that a subtransaction has asked for; the invalid one: nobody has.
struct Wish {
    SubTransactionId by = InvalidSubTransactionId;

    [[nodiscard]] bool stands() const { return by != InvalidSubTransactionId; }
};

// Of the open transaction of this process.
struct Noted {
    Wish change;
    Wish forget;
    Megabytes from = 0;
    Megabytes to = 0;
} noted;

void forget_everything() {
    with_standing([](Standing& standing) {
        Standing fresh;
        fresh.worker_pid = standing.worker_pid;
        // Without a baseline: the next interval is not compared with the server's lifetime.
        standing = fresh;
    });
}

void after_commit() {
    if (noted.forget.stands()) {
        forget_everything();
    }
    if (noted.change.stands()) {
        count_change(noted.to > noted.from);
        reload_configuration();
    }
}

void on_end(XactEvent event, void* /*argument*/) {
    switch (event) {
        case XACT_EVENT_PRE_COMMIT:
            if (noted.change.stands()) {
                as_superuser([] { write_size(noted.to); });
            }
            break;
        case XACT_EVENT_PRE_PREPARE:
            if (noted.change.stands() || noted.forget.stands()) {
                ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                                errmsg("cannot PREPARE a transaction that has changed walrus")));
            }
            break;
        case XACT_EVENT_COMMIT: after_commit(); [[fallthrough]];
        case XACT_EVENT_ABORT: noted = {}; break;
        default: break;  // Parallel workers and PREPARE have noted nothing.
    }
}

void end_wish(Wish& wish, SubXactEvent event, SubTransactionId own, SubTransactionId parent) {
    if (wish.by != own) {
        return;
    }
    if (event == SUBXACT_EVENT_COMMIT_SUB) {
        wish.by = parent;
    } else if (event == SUBXACT_EVENT_ABORT_SUB) {
        wish = {};
    }
}

void on_sub_end(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void* /*argument*/) {
    end_wish(noted.change, event, own, parent);
    end_wish(noted.forget, event, own, parent);
}

void note(Wish& wish) {
    static bool listens = false;  // For the rest of the session.
    if (!listens) {
        RegisterXactCallback(on_end, nullptr);
        RegisterSubXactCallback(on_sub_end, nullptr);
        listens = true;
    }
    wish.by = GetCurrentSubTransactionId();
}

}  // namespace

void change_size_at_commit(Megabytes from, Megabytes to) {
    if (IsolationIsSerializable()) {
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("max_wal_size cannot be changed in a SERIALIZABLE transaction"),
                        errhint("It could still fail after the change. Use READ COMMITTED.")));
    }
    note(noted.change);
    noted.from = from;
    noted.to = to;
}

bool is_size_noted() { return noted.change.stands(); }

void forget_at_commit() { note(noted.forget); }

}  // namespace sluice::walrus
