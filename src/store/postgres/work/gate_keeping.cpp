#include "store/postgres/work/gate_keeping.hpp"

#include "store/postgres/client/row_reader.hpp"
#include "store/postgres/work/work_writer.hpp"

namespace sluice::postgres {
namespace {

// Long enough for a server that is busy, and a successor waits no longer.
constexpr Duration kLasts{3000};

constexpr Statement kKeep{"gates_keep", "select sluice.keep($1, $2)"};
// The fence rises, so that what is still under way under the old one is refused.
constexpr Statement kLetGo{"gates_let_go",
                           "update sluice.dispatch_keeper k set node_nm = '', fence_no = k.fence_no + 1,"
                           " until_ts = sluice.from_ms(0) where k.fence_no = $1"};
constexpr Statement kHoldGatesFence{"gates_hold_fence", "select sluice.hold_fence($1)"};
constexpr Statement kNotePermits{
    "permits_note",
    "insert into sluice.dispatch_permit as p (permit_id, subject_cd, subject_nm, until_ts)"
    " select c.permit_id, c.subject_cd, c.subject_nm, sluice.from_ms(sluice.limit_clock() / 1000 + c.left_ms)"
    " from unnest($1::text[], $2::smallint[], $3::text[], $4::bigint[])"
    " as c (permit_id, subject_cd, subject_nm, left_ms)"
    " order by c.permit_id collate \"C\""
    " on conflict (permit_id) do update set subject_cd = excluded.subject_cd,"
    " subject_nm = excluded.subject_nm, until_ts = excluded.until_ts"};
// Nobody has dropped these, and they are over.
constexpr Statement kSweepPermits{"permits_sweep",
                                  "delete from sluice.dispatch_permit p where p.ctid in (select o.ctid"
                                  " from sluice.dispatch_permit o where o.until_ts < (select"
                                  " sluice.from_ms(sluice.limit_clock() / 1000))"
                                  " order by o.until_ts limit 100 for update skip locked)"};
constexpr Statement kDropPermits{"permits_drop",
                                 "delete from sluice.dispatch_permit p where p.permit_id = any ($1)"};
constexpr Statement kPermits{
    "permits_list",
    "select p.permit_id, p.subject_cd, p.subject_nm, sluice.to_ms(p.until_ts) - at.now_ms"
    " from (select sluice.limit_clock() / 1000 as now_ms) as at,"
    " sluice.dispatch_permit p where p.until_ts > sluice.from_ms(at.now_ms)"
    " order by p.permit_id"};

}  // namespace

Result<std::optional<Keeping>, Failure> keep_gates(PatientCaller& caller, const std::string& node) {
    const auto rows = caller.call(kKeep, Parameters{}.add(node).add(std::int64_t{kLasts.count()}));
    if (!rows) {
        return Unexpected{rows.error()};
    }
    const auto fence = rows->empty() ? std::nullopt : rows->number(0, 0);
    return fence ? std::optional{Keeping{static_cast<Fence>(*fence), kLasts}} : std::nullopt;
}

Result<Rows, Failure> let_gates_go(PatientCaller& caller, Fence fence) {
    return caller.call(kLetGo, Parameters{}.add(static_cast<std::int64_t>(fence)));
}

Result<bool, Failure> note_outside_permits(Connection& connection, Fence fence,
                                           std::span<const OutsidePermit> permits) {
    ArrayText ids;
    ArrayText kinds;
    ArrayText names;
    ArrayText left;
    for (const OutsidePermit& permit : permits) {
        ids.add(std::string_view{permit.id});
        kinds.add(static_cast<std::int64_t>(permit.gate.kind));
        names.add(std::string_view{permit.gate.name});
        left.add(permit.left.count());
    }
    queue_begin(connection);
    connection.queue(kNotePermits, Parameters{}.add(ids).add(kinds).add(names).add(left));
    connection.queue(kSweepPermits);
    // Last, so that whoever wants to be the keeper waits for the commit alone.
    connection.queue(kHoldGatesFence, Parameters{}.add(static_cast<std::int64_t>(fence)));
    connection.queue(kWorkCommit);
    const auto noted = connection.flush();
    if (!noted && noted.error().means(Meaning::Fenced)) {
        return false;
    }
    return noted ? Result<bool, Failure>{true} : Unexpected{noted.error()};
}

Result<Rows, Failure> drop_outside_permits(PatientCaller& caller, std::span<const std::string> ids) {
    ArrayText dropped;
    for (const std::string& id : ids) {
        dropped.add(std::string_view{id});
    }
    return caller.insist(kDropPermits, Parameters{}.add(dropped));
}

Result<std::vector<OutsidePermit>, Failure> list_outside_permits(PatientCaller& caller) {
    const auto rows = caller.insist(kPermits, Parameters{});
    if (!rows) {
        return Unexpected{rows.error()};
    }
    std::vector<OutsidePermit> permits;
    for (std::size_t i = 0; i < rows->size(); ++i) {
        RowReader reader{*rows, i};
        std::string id = reader.text();
        const auto kind = static_cast<SubjectKind>(reader.number());
        std::string name = reader.text();
        permits.push_back({std::move(id), {kind, std::move(name)}, Duration{reader.number()}});
    }
    return permits;
}

}  // namespace sluice::postgres
