// What is forgotten of slots that brought work, and what stays.
#include "support/postgres_interleaving.hpp"
#include "support/work_words.hpp"

namespace sluice::test {
namespace {

class WorkRetention : public Interleaving {
protected:
    // One event with work in each of so many windows from noon on.
    void fill(Node& one, int windows, const ConfigDraft& terms = draft("a", 9, 1s)) {
        must(one->put_config(terms));
        for (int i = 0; i < windows; ++i) {
            must(one.run(with_work(assign(id_of(i), "a", {kNoon + i * 1s}))));
        }
        one.set_server_clock_to(kNoon + 2h);
    }
    static std::string id_of(int number) { return "e" + std::to_string(number); }

    void set_state(const std::string& where, WorkState state) {
        ask(*connect(), "update sluice.work set state_cd = " + std::to_string(static_cast<int>(state)) +
                            ", lane_cd = case when " + std::to_string(static_cast<int>(state)) +
                            " in (3, 8) then 0 else lane_cd end where " + where);
    }
    // As the housekeeper of a node would. How often it found something.
    int forget() {
        const auto session = connect();
        int turns = 0;
        while (ask(*session, "select sluice.forget_windows('a', '1 h', 20)") != "0" && turns < 100) {
            ++turns;
        }
        return turns;
    }
    std::string row(const std::string& sql) { return ask(*connect(), sql); }
    std::string sizes() {
        return row(
            "select concat_ws(' ', (select count(*) from rl_event_slot_dtl),"
            " (select count(*) from sluice.slot_past), (select count(*) from sluice.work),"
            " (select count(*) from sluice.work_order), (select count(*) from sluice.dispatch_audit),"
            " (select count(*) from rl_wndw_ct where wndw_strt_ts < " +
            kNoonText + "::timestamptz + interval '1 h'))");
    }
};

INSTANTIATE_TEST_SUITE_P(Ways, WorkRetention, testing::Values(AssignWay::Batch, AssignWay::Function),
                         [](const auto& way) {
                             return way.param == AssignWay::Batch ? "Batch" : "Function";
                         });

TEST_P(WorkRetention, ForgetsAllThatIsKnownOfWorkThatIsOver) {
    Node one = node();
    fill(one, 3);
    must(one.run(MoveSlot{event("e0"), kNoon + 3s}));
    must(one.run(CancelSlot{event("e1")}));
    set_state("event_id in ('e0', 'e2')", WorkState::Sent);
    ask(*connect(),
        "insert into sluice.dispatch_audit (subject_cd, subject_nm, action_cd, at_ts)"
        " values (1, 'a', 7, now())");

    EXPECT_GT(forget(), 0);

    EXPECT_EQ(sizes(), "0 0 0 0 1 0");
    EXPECT_FALSE(one->find(event("e0")));
    const Slot again = must(one.run(with_work(assign("e0", "a", {kNoon + 3h})))).slot;
    EXPECT_EQ(again.revision, 0U);
    EXPECT_THAT(one->find(event("e0"))->work->audit, testing::IsEmpty());
}

TEST_P(WorkRetention, SparesSlotsWhoseWorkIsNotOverWithTheirPlaces) {
    Node one = node();
    fill(one, 1);
    must(one.run(assign("plain", "a", {kNoon, 3})));
    must(one.run(with_work(assign("sent", "a", {kNoon}))));
    for (const WorkState state : {WorkState::Pending, WorkState::Claimed, WorkState::Retrying,
                                  WorkState::Dead, WorkState::Parked, WorkState::Expired}) {
        SCOPED_TRACE(name_of(state));
        set_state("event_id = 'sent'", WorkState::Sent);
        set_state("event_id = 'e0'", state);

        forget();

        EXPECT_EQ(row("select string_agg(event_id, ' ') from rl_event_slot_dtl"), "e0");
        EXPECT_EQ(row("select concat_ws(' ', count(*), sum(slot_ct)) from rl_wndw_ct where slot_ct > 0"),
                  "1 1");
        EXPECT_EQ(row("select count(*) from sluice.recount where counted <> recounted"), "0");
        EXPECT_TRUE(one->find(event("e0"))->work);
    }
    set_state("event_id = 'e0'", WorkState::Sent);
    forget();
    EXPECT_EQ(sizes(), "0 0 0 0 0 0");
}

TEST_P(WorkRetention, GoesOnBehindWindowsThatStay) {
    Node one = node();
    fill(one, 60);
    set_state("event_id = 'e55'", WorkState::Sent);
    must(one.run(assign("plain", "a", {kNoon + 30s})));

    EXPECT_GT(forget(), 0);

    EXPECT_EQ(sizes(), "59 0 59 59 0 59");
    EXPECT_EQ(forget(), 0) << "nothing can go";
    set_state("event_id in ('e3', 'e40')", WorkState::Withdrawn);
    EXPECT_GT(forget(), 0);
    EXPECT_EQ(sizes(), "57 0 57 57 0 57");
    EXPECT_EQ(row("select count(*) from sluice.recount where counted <> recounted"), "0");
}

TEST_P(WorkRetention, LeavesWindowsThatOthersCanBeAssignedInAgain) {
    Node one = node();
    fill(one, 2, stratified(draft("a", 3, 1s)));
    must(one.run(assign("plain", "a", {kNoon})));
    set_state("event_id = 'e1'", WorkState::Sent);

    forget();

    EXPECT_EQ(one.window_of("again"), 0);
    EXPECT_EQ(one.window_of("once more"), 0);
    EXPECT_EQ(one.window_of("too many"), 1);
}

TEST_P(WorkRetention, KeepsNobodyOutWhereNothingCanGo) {
    Node one = node();
    fill(one, 1);
    forget();
    const auto application = connect();
    ask(*application, "begin; " + call_assign("x"));

    EXPECT_EQ(state_of(*connect(), "select sluice.forget_windows('a', '1 h', 20)"), "");
    ask(*application, "rollback");
}

TEST_P(WorkRetention, GoesThroughWhatWasCutAnewWithSlotsThatStay) {
    Node one = node();
    fill(one, 10, draft("a", 9, 10s));
    set_state("event_id = 'e7'", WorkState::Sent);
    must(one.run(CancelSlot{event("e3")}));
    must(one->put_config(draft("a", 9, 1s)));

    forget();

    EXPECT_EQ(sizes().substr(0, 9), "8 0 8 8 0");
    EXPECT_EQ(row("select sum(slot_ct) from rl_wndw_ct"), "8");
    EXPECT_EQ(row("select count(*) from rl_wndw_ct where slot_ct = 0"), "0");
}

}  // namespace
}  // namespace sluice::test
