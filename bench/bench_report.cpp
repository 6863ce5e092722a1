// Turns the samples of a run into the table, the bars and the JSON.
//
//   bench_report SAMPLES JSON    exits with 1 when a bar is missed
//
// A line of SAMPLES is `subject metric value`, in the order in which it was measured: the n-th value of one
// subject is of the same round as the n-th of another. Lines of the subject `meta` are copied to the JSON.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace {

namespace json = boost::json;
using Values = std::vector<double>;

struct Spread {
    double least, median, most;
};

Spread spread_of(Values values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {values.front(), median, values.back()};
}

struct Samples {
    std::map<std::string, std::map<std::string, Values>> by_subject;
    std::vector<std::string> order;  // Of the subjects, as they first came.
    json::object meta;

    [[nodiscard]] const Values* find(const std::string& subject, const std::string& metric) const {
        const auto found = by_subject.find(subject);
        if (found == by_subject.end()) {
            return nullptr;
        }
        const auto values = found->second.find(metric);
        return values == found->second.end() ? nullptr : &values->second;
    }
};

Samples read(const char* path) {
    Samples samples;
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
        std::istringstream words{line};
        std::string subject;
        std::string metric;
        words >> subject >> metric >> std::ws;
        if (subject == "meta") {
            std::string text;
            std::getline(words, text);
            samples.meta[metric] = text;
            continue;
        }
        double value = 0;
        words >> value;
        if (!samples.by_subject.contains(subject)) {
            samples.order.push_back(subject);
        }
        samples.by_subject[subject][metric].push_back(value);
    }
    return samples;
}

enum class Sense { AtLeast, AtMost, Shown };

// A figure that is judged: one subject's by another's, or alone where there is no other. A subject that ends
// in a dot stands for the best of all whose names begin with it.
struct Bar {
    const char* name;
    const char* subject;
    const char* other;
    const char* metric;
    Sense sense;
    double limit;
};

constexpr Bar kBars[] = {
    {"engine by seed, empty", "engine.empty", "seed.empty.", "rate", Sense::AtLeast, 20},
    {"engine by seed, behind 10,000 full windows", "engine.behind", "seed.behind.", "rate", Sense::Shown, 0},
    {"engine by bare RocksDB", "engine.empty", "rocksdb.bare", "rate", Sense::AtLeast, 0.6},
    {"engine behind 10,000 full windows by empty", "engine.behind", "engine.empty", "rate", Sense::AtLeast,
     0.9},
    {"engine, same database without backlog, by empty", "engine.beside", "engine.empty", "rate", Sense::Shown,
     0},
    {"engine, lower of two caps, by empty", "engine.lower-cap", "engine.empty", "rate", Sense::Shown, 0},
    {"engine, weight 3, by empty", "engine.weight", "engine.empty", "rate", Sense::Shown, 0},
    {"seed behind 10,000 full windows by empty", "seed.behind.", "seed.empty.", "rate", Sense::Shown, 0},
    {"PostgreSQL, batches by seed, empty", "pg.batch.empty", "seed.empty.", "rate", Sense::AtLeast, 8},
    {"PostgreSQL, batches by seed, behind", "pg.batch.behind", "seed.behind.", "rate", Sense::AtLeast, 40},
    {"PostgreSQL, behind by empty windows", "pg.batch.behind", "pg.batch.beside", "rate", Sense::AtLeast,
     0.9},
    {"PostgreSQL, an old snapshot, by empty windows", "pg.batch.snapshot", "pg.batch.beside", "rate",
     Sense::AtLeast, 0.7},
    {"PostgreSQL, lower of two caps, by empty windows", "pg.batch.lower-cap", "pg.batch.lower-cap-beside",
     "rate", Sense::AtLeast, 0.9},
    {"PostgreSQL, weight 3, by empty windows", "pg.batch.weight", "pg.batch.weight-beside", "rate",
     Sense::AtLeast, 0.9},
    {"PostgreSQL, behind by empty tables", "pg.batch.behind", "pg.batch.empty", "rate", Sense::Shown, 0},
    {"PostgreSQL, a million slots stored by none", "pg.batch.beside", "pg.batch.empty", "rate", Sense::Shown,
     0},
    {"PostgreSQL, two nodes by one", "pg.batch.two-nodes", "pg.batch.empty", "rate", Sense::AtLeast, 0.9},
    {"PostgreSQL, function by seed, empty", "pg.function.empty.", "seed.empty.", "rate", Sense::AtLeast, 0.8},
    {"PostgreSQL, function by seed, behind", "pg.function.behind.", "seed.behind.", "rate", Sense::AtLeast,
     5},
    {"PostgreSQL, behind 1M windows by behind 1k", "pg.scale.1000000", "pg.scale.1000", "rate", Sense::Shown,
     0},
    {"CPU per slot: seed by PostgreSQL batches", "seed.empty.", "pg.batch.empty", "cpu_us", Sense::Shown, 0},
    {"POST by bare Beast, 64 connections", "http.64", "beast.64", "rate", Sense::AtLeast, 0.3},
    {"POST by bare Beast, 256 connections", "http.256", "beast.256", "rate", Sense::AtLeast, 0.4},
    {"/healthz by bare Beast", "http.health", "beast.health", "rate", Sense::AtLeast, 0.8},
    {"CPU per slot: engine by bare RocksDB", "engine.empty", "rocksdb.bare", "cpu_us", Sense::Shown, 0},
    {"CPU per slot: engine behind by empty", "engine.behind", "engine.empty", "cpu_us", Sense::Shown, 0},
    {"CPU per request: POST by bare Beast, 64", "http.64", "beast.64", "cpu_us", Sense::Shown, 0},
    {"CPU per request: POST by bare Beast, 256", "http.256", "beast.256", "cpu_us", Sense::Shown, 0},
    {"CPU per slot: stream by engine", "stream", "engine.empty", "cpu_us", Sense::Shown, 0},
    {"stream by engine", "stream", "engine.empty", "rate", Sense::AtLeast, 0.5},
    {"stream, peak memory in MB", "stream", nullptr, "peak_mb", Sense::AtMost, 400},
    {"10,000 idle connections, memory in MB", "memory.idle-10k", nullptr, "rss_mb", Sense::AtMost, 200},
    {"memory after 5M slots by after 1M", "memory.5M", "memory.1M", "rss_mb", Sense::AtMost, 1.2},
    {"start with 10M slots, in seconds", "start.10M", nullptr, "start_s", Sense::AtMost, 2},
    {"dispatch by a bare client", "dispatch.embedded", "client.bare", "rate", Sense::AtLeast, 0.3},
    {"dispatch from PostgreSQL by one event a transaction", "dispatch.postgres", "one-by-one.1", "rate",
     Sense::AtLeast, 10},
    {"dispatch from PostgreSQL by 16 workers of that", "dispatch.postgres", "one-by-one.16", "rate",
     Sense::Shown, 0},
    {"CPU per call: dispatch by a bare client", "dispatch.embedded", "client.bare", "cpu_us", Sense::Shown,
     0},
    {"CPU per call: many pending by few", "dispatch.pending-many", "dispatch.pending-few", "cpu_us",
     Sense::AtMost, 1.3},
    {"lateness at half of the rate, median in us", "dispatch.lateness", nullptr, "p50_us", Sense::Shown, 0},
    {"lateness at half of the rate, 99 % in us", "dispatch.lateness", nullptr, "p99_us", Sense::Shown, 0},
    {"limits by throttlecrab, one hot key", "limits.hot", "throttlecrab.hot", "rate", Sense::AtLeast, 1.5},
    {"limits by governor, one hot key", "limits.hot", "governor.hot", "rate", Sense::AtLeast, 1.5},
    {"limits by governor, one hot key, undisturbed", "limits.hot", "governor.hot", "quiet_rate", Sense::Shown,
     0},
    {"limits by governor on the wall clock, one hot key", "limits.hot", "governor-wall.hot", "rate",
     Sense::Shown, 0},
    {"limits by throttlecrab, denied", "limits.tight", "throttlecrab.tight", "rate", Sense::Shown, 0},
    {"limits by governor, denied", "limits.tight", "governor.tight", "rate", Sense::Shown, 0},
    {"limits by throttlecrab, 1M keys (Zipf)", "limits.zipf", "throttlecrab.zipf", "rate", Sense::AtLeast,
     1.5},
    {"limits by governor, 1M keys (Zipf)", "limits.zipf", "governor.zipf", "rate", Sense::AtLeast, 1.5},
    {"limits by throttlecrab, 1M keys", "limits.uniform", "throttlecrab.uniform", "rate", Sense::Shown, 0},
    {"limits by governor, 1M keys", "limits.uniform", "governor.uniform", "rate", Sense::Shown, 0},
    {"limits, two threads by one, 1M keys", "limits.uniform-2", nullptr, "scaling", Sense::AtLeast, 1.7},
    {"adding in registers, two threads by one", "limits.uniform-2", nullptr, "machine_scaling", Sense::Shown,
     0},
    {"CPU per check: governor by limits, one hot key", "governor.hot", "limits.hot", "cpu_us", Sense::Shown,
     0},
    {"CPU per check: governor by limits, 1M keys (Zipf)", "governor.zipf", "limits.zipf", "cpu_us",
     Sense::Shown, 0},
    {"limits on Redis by their script in redis-benchmark", "limits.redis-open", "script.redis-open", "rate",
     Sense::AtLeast, 0.85},
    {"that script by the smallest token bucket", "script.redis-open", "smallest.redis-open", "rate",
     Sense::AtLeast, 0.7},
    {"limits on Redis by their script, denied", "limits.redis-tight", "script.redis-tight", "rate",
     Sense::Shown, 0},
    {"that script by the smallest, denied", "script.redis-tight", "smallest.redis-tight", "rate",
     Sense::Shown, 0},
    {"limits, admitted by allowed", "limits.tight", nullptr, "accuracy", Sense::AtLeast, 0.999},
    {"limits, admitted by allowed, at most", "limits.tight", nullptr, "accuracy", Sense::AtMost, 1.001},
    {"throttlecrab, admitted by allowed", "throttlecrab.tight", nullptr, "accuracy", Sense::Shown, 0},
    {"governor, admitted by allowed", "governor.tight", nullptr, "accuracy", Sense::Shown, 0},
    {"limits on Redis, admitted by allowed", "limits.redis-tight", nullptr, "accuracy", Sense::AtLeast, 0.99},
    {"limits on Redis, admitted by allowed, at most", "limits.redis-tight", nullptr, "accuracy",
     Sense::AtMost, 1.001},
    {"smallest token bucket, admitted by allowed", "smallest.redis-tight", nullptr, "accuracy", Sense::Shown,
     0},
};

// Nothing when this run did not measure it.
std::optional<Values> values_of(const Samples& samples, const std::string& name, const std::string& metric) {
    std::optional<Values> best;
    for (const std::string& subject : samples.order) {
        const bool meant = name.ends_with('.') ? subject.starts_with(name) : subject == name;
        const Values* values = meant ? samples.find(subject, metric) : nullptr;
        if (values == nullptr) {
            continue;
        }
        best = best.value_or(*values);
        best->resize(std::min(best->size(), values->size()));
        std::transform(best->begin(), best->end(), values->begin(), best->begin(),
                       [](double one, double other) { return std::max(one, other); });
    }
    return best;
}

std::optional<Spread> figure(const Samples& samples, const Bar& bar) {
    auto values = values_of(samples, bar.subject, bar.metric);
    if (values && bar.other != nullptr) {
        const auto others = values_of(samples, bar.other, bar.metric);
        if (!others) {
            return std::nullopt;
        }
        values->resize(std::min(values->size(), others->size()));
        std::transform(values->begin(), values->end(), others->begin(), values->begin(), std::divides<>{});
    }
    return values ? std::optional{spread_of(*values)} : std::nullopt;
}

// The median decides: single rounds suffer from whatever else the machine does.
bool is_met(const Bar& bar, const Spread& spread) {
    switch (bar.sense) {
        case Sense::AtLeast: return spread.median >= bar.limit;
        case Sense::AtMost: return spread.median <= bar.limit;
        case Sense::Shown: break;
    }
    return true;
}

std::string cell(const Samples& samples, const std::string& subject, const char* metric, int decimals) {
    const Values* values = samples.find(subject, metric);
    return values == nullptr ? "" : fmt::format("{:.{}f}", spread_of(*values).median, decimals);
}

void print_subjects(const Samples& samples) {
    fmt::print("\n{:<20}{:>12}{:>12}{:>12}{:>10}{:>12}{:>11}{:>11}{:>10}\n", "", "ops/s min", "median", "max",
               "accuracy", "CPU us/op", "p50 us", "p99 us", "MB");
    for (const std::string& subject : samples.order) {
        const Values* rates = samples.find(subject, "rate");
        const auto rate = rates == nullptr ? Spread{} : spread_of(*rates);
        const auto shown = [&](double value) { return rates == nullptr ? "" : fmt::format("{:.0f}", value); };
        const auto peak = cell(samples, subject, "peak_mb", 1);
        fmt::print("{:<20}{:>12}{:>12}{:>12}{:>10}{:>12}{:>11}{:>11}{:>10}\n", subject, shown(rate.least),
                   shown(rate.median), shown(rate.most), cell(samples, subject, "accuracy", 4),
                   cell(samples, subject, "cpu_us", 3), cell(samples, subject, "p50_us", 0),
                   cell(samples, subject, "p99_us", 0),
                   peak.empty() ? cell(samples, subject, "rss_mb", 1) : peak);
    }
    fmt::print(
        "engine and rocksdb: p50 and p99 are of batches of 256. MB: the server's resident memory.\n"
        "accuracy: what was admitted by what the plan allows, or by what was asked if that is less.\n"
        "undisturbed: the fastest quarter of slices of some milliseconds. Two threads by one: in turns of "
        "some\n"
        "milliseconds, all of them. What adding in registers does not reach, the machine did not have: a "
        "host\n"
        "may let both of its processors share a core.\n");
}

struct Judgement {
    json::array bars;
    std::vector<std::string> missed;
};

Judgement judge(const Samples& samples) {
    Judgement judgement;
    fmt::print("\n{:<52}{:>10}{:>10}{:>10}   {}\n", "", "min", "median", "max", "bar");
    for (const Bar& bar : kBars) {
        const auto spread = figure(samples, bar);
        if (!spread) {
            continue;
        }
        const bool met = is_met(bar, *spread);
        const char* sign = bar.sense == Sense::AtMost ? "<=" : ">=";
        const std::string verdict =
            bar.sense == Sense::Shown ? "" : fmt::format("{} {} {}", sign, bar.limit, met ? "PASS" : "MISS");
        fmt::print("{:<52}{:>10.2f}{:>10.2f}{:>10.2f}   {}\n", bar.name, spread->least, spread->median,
                   spread->most, verdict);
        judgement.bars.push_back(json::object{{"name", bar.name},
                                              {"min", spread->least},
                                              {"median", spread->median},
                                              {"max", spread->most},
                                              {"bar", verdict}});
        if (!met) {
            judgement.missed.push_back(
                fmt::format("{}: {:.2f}, must be {} {}", bar.name, spread->median, sign, bar.limit));
        }
    }
    return judgement;
}

json::object to_json(const Samples& samples) {
    json::object subjects;
    for (const auto& [subject, metrics] : samples.by_subject) {
        json::object figures;
        for (const auto& [metric, values] : metrics) {
            figures[metric] = json::value_from(values);
        }
        subjects[subject] = std::move(figures);
    }
    return subjects;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: bench_report SAMPLES JSON\n", stderr);
        return 2;
    }
    const Samples samples = read(argv[1]);
    if (samples.order.empty()) {
        std::fputs("bench_report: no samples\n", stderr);
        return 2;
    }
    print_subjects(samples);
    Judgement judgement = judge(samples);
    std::ofstream{argv[2]} << json::object{{"meta", samples.meta},
                                           {"samples", to_json(samples)},
                                           {"bars", std::move(judgement.bars)}}
                           << '\n';
    for (const std::string& missed : judgement.missed) {
        fmt::print("missed: {}\n", missed);
    }
    return judgement.missed.empty() ? 0 : 1;
}
