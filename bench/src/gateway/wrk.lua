-- Asks for the paths it is given, in turn, and reports as one line of JSON (wrk.ts: Report).
local requests = {}
local at = 0

function init(paths)
  for _, path in ipairs(paths) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  local failures = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('{"requests":%d,"us":%d,"p50Us":%d,"p99Us":%d,"failures":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), failures))
end
