#include "store/postgres/work/terms_reader.hpp"

#include "core/slots/slot.hpp"
#include "store/postgres/client/row_reader.hpp"

namespace sluice::postgres {
namespace {

constexpr Statement kTermsVersion{"work_terms_version",
                                  "select changes, newest_config from sluice.terms_version()"};
constexpr Statement kHolds{"work_holds",
                           "select subject_cd, subject_nm, why_cd, sluice.to_ms(since_ts), by_tx"
                           " from sluice.dispatch_hold"};
constexpr Statement kRates{
    "work_rates", "select subject_cd, subject_nm, max_per_second, holds_cd from sluice.dispatch_rate"};
constexpr Statement kConfigTerms{
    "work_config_terms",
    "select c.wndw_config_nm, c.pool_nm, c.max_per_second, c.rate_holds_cd, c.retry_ms"
    " from rl_event_wndw_config c where c.act_in = 1"
    " and (c.max_per_second is not null or c.retry_ms is not null)"};

// Rows that are damaged are passed over: one must not end all dispatch.
std::optional<Subject> read_subject(RowReader& reader) {
    const auto kind = reader.number();
    Subject subject{static_cast<SubjectKind>(kind), reader.text()};
    const bool known = kind >= 1 && kind <= static_cast<std::int64_t>(SubjectKind::Endpoint);
    return known ? std::optional{std::move(subject)} : std::nullopt;
}

GateTerms read_rate(RowReader& reader) {
    const auto rate = reader.number_as<std::uint32_t>();
    return {rate, reader.number() == 1 ? RateHolds::Sender : RateHolds::Receiver};
}

// The lower of both; Receiver, if one of them says so.
void add_rate(DispatchTerms& terms, Subject subject, GateTerms rate) {
    const auto [gate, is_first] = terms.gates.try_emplace(std::move(subject), rate);
    if (!is_first) {
        gate->second = stricter(gate->second, rate);
    }
}

void add_config(DispatchTerms& terms, const Rows& rows, std::size_t row) {
    RowReader reader{rows, row};
    const auto name = reader.name<ConfigName>();
    std::string pool = reader.text();
    const bool has_rate = !reader.next_is_null();
    const GateTerms rate = read_rate(reader);
    const auto pauses = reader.numbers_if_any();
    if (has_rate) {
        add_rate(terms, {SubjectKind::Pool, std::move(pool)}, rate);
    }
    if (name && pauses) {
        std::vector<Duration> schedule;
        for (const std::int64_t pause : *pauses) {
            schedule.emplace_back(pause);
        }
        terms.schedules.insert_or_assign(*name, RetrySchedule{std::move(schedule)});
    }
}

DispatchTerms read_terms(const Rows& holds, const Rows& rates, const Rows& configs) {
    DispatchTerms terms;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        RowReader reader{holds, i};
        auto subject = read_subject(reader);
        const auto why = reader.number() == 2 ? Hold::Why::Gone : Hold::Why::Paused;
        const Instant since = reader.instant();
        if (subject) {
            terms.holds.insert_or_assign(std::move(*subject), Hold{why, since, reader.text()});
        }
    }
    for (std::size_t i = 0; i < rates.size(); ++i) {
        RowReader reader{rates, i};
        if (auto subject = read_subject(reader)) {
            add_rate(terms, std::move(*subject), read_rate(reader));
        }
    }
    for (std::size_t i = 0; i < configs.size(); ++i) {
        add_config(terms, configs, i);
    }
    return terms;
}

}  // namespace

void TermsReader::queue_version(Connection& connection) { connection.queue(kTermsVersion); }

Result<TermsRef, Failure> TermsReader::read(Connection& connection, const Rows& rows) {
    RowReader reader{rows, 0};
    const Version version{reader.number(), reader.number()};
    {
        const std::lock_guard lock{mutex_};
        if (terms_ != nullptr && version == version_) {
            return terms_;
        }
    }
    connection.queue(kHolds);
    connection.queue(kRates);
    connection.queue(kConfigTerms);
    const auto read = connection.flush();
    if (!read) {
        return Unexpected{read.error()};
    }
    // They may be newer than the version, never older: then they are read once more.
    auto terms = std::make_shared<const DispatchTerms>(read_terms((*read)[0], (*read)[1], (*read)[2]));
    const std::lock_guard lock{mutex_};
    version_ = version;
    terms_ = terms;
    return terms;
}

}  // namespace sluice::postgres
