-- wrk prints rounded figures; this prints exact ones on a line of their own.
local method = os.getenv("BENCH_METHOD")
if method then
  wrk.method = method
  wrk.body = string.rep("x", tonumber(os.getenv("BENCH_BODY_BYTES")))
  wrk.headers["Content-Type"] = "application/octet-stream"
end

local cookie = os.getenv("BENCH_COOKIE")
if cookie then
  wrk.headers["Cookie"] = cookie
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("RESULT p50=%d p99=%d requests=%d micros=%d failed=%d\n", latency:percentile(50),
    latency:percentile(99), summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout))
end
