-- wrk prints rounded figures; this prints exact ones on a line of their own.
wrk.method = os.getenv("BENCH_METHOD")
local fields = io.open(os.getenv("BENCH_REQUEST") .. "/headers"):read("*a")
for name, value in fields:gmatch("([^:\n]+): ([^\n]*)") do
  wrk.headers[name] = value
end
local body = io.open(os.getenv("BENCH_REQUEST") .. "/body", "rb"):read("*a")
if #body > 0 then
  wrk.body = body
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("RESULT p50=%d p99=%d requests=%d micros=%d failed=%d\n", latency:percentile(50),
    latency:percentile(99), summary.requests, summary.duration, e.connect + e.read + e.write + e.status + e.timeout))
end
