-- One new event per request, all for one time; the same for every server. wrk ... -s assign.lua URL [-- RUN]
-- RUN is any text that no earlier run against the same server had; `health` asks for /healthz instead.

local threads = 0

function setup(thread)
    thread:set("thread_number", threads)
    threads = threads + 1
end

function init(args)
    local run = args[1] or ""
    if run == "health" then
        local fixed = wrk.format("GET", "/healthz")
        request = function() return fixed end
        return
    end
    run = string.rep("0", 16 - #run) .. run
    local head = '{"eventId":"'
    local tail = '","configName":"default","requestedTime":"2035-01-01T00:00:00Z"}'
    local headers = { ["Content-Type"] = "application/json" }
    local made = 0
    request = function()
        made = made + 1
        -- 36 characters, as a UUID has.
        local id = string.format("%s-%03d-%015d", run, thread_number, made)
        return wrk.format("POST", "/api/v1/slots", headers, head .. id .. tail)
    end
end

-- One line a figure, as bench_report reads them; `requests` and `errors` are for tools/bench.
function done(summary, latency)
    local errors = summary.errors
    io.write(string.format("rate %.1f\np50_us %.0f\np99_us %.0f\nrequests %d\nerrors %d\n",
        summary.requests / (summary.duration / 1e6), latency:percentile(50), latency:percentile(99),
        summary.requests, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
