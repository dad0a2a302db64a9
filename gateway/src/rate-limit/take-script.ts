import { BUCKET_MS, EXACT_LIMIT_MAX, WINDOW_MS } from "@parley/shared/rate-limit/window";

/**
 * `takeFrom` of `shared/src/rate-limit/window.ts` in Lua, for several requests at once, atomic in Redis. KEYS[1] is the window, ARGV[1] the
 * limit, ARGV[2] the number of requests, ARGV[3] a test's clock in ms (otherwise Redis's own, so that gateways' clocks
 * do not matter). Returns {used, granted, waitMs, newestMs}: the first `granted` requests are allowed, the others wait.
 *
 * The window is one list of running totals with times between them, `c0 t1 c1 t2 c2 ... tn cn`: `t` is removed when it
 * is 60 s old, and `cn - c0` requests are used. Only the ends are touched, so a take costs the same at any limit.
 */
export const takeScript = `
local key, limit, wanted, now = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local cutoff = now - ${WINDOW_MS}

local tail = redis.call('LRANGE', key, -2, -1)
local newest, total = tonumber(tail[1]), tonumber(tail[2])
if newest and (newest <= cutoff or newest > now + ${WINDOW_MS}) then
  redis.call('DEL', key)
  newest = nil
end

local at = now
if limit > ${EXACT_LIMIT_MAX} then at = now - now % ${BUCKET_MS} + ${BUCKET_MS - 1} end
local base, oldest = 0, at
if newest then
  local span = 2
  local head, gone
  repeat
    span = span * 2
    head = redis.call('LRANGE', key, 0, span - 1)
    gone = 0
    while head[gone + 2] and tonumber(head[gone + 2]) <= cutoff do gone = gone + 2 end
    if gone > 0 then redis.call('LTRIM', key, gone, -1) end
  until gone < #head
  base, oldest = tonumber(head[gone + 1]), tonumber(head[gone + 2])
else
  total = 0
end

local used = total - base
if used >= limit then
  if used > limit and newest then
    local entries = redis.call('LRANGE', key, 0, -1)
    local leaving = base + math.min(used, used - limit + 1)
    local i = 2
    while tonumber(entries[i + 1]) < leaving do i = i + 2 end
    oldest = tonumber(entries[i])
  end
  return {used, 0, oldest + ${WINDOW_MS} - now, newest or now}
end

local granted = math.min(wanted, limit - used)
local wait = granted < wanted and oldest + ${WINDOW_MS} - now or 0
if newest and at <= newest then
  redis.call('LSET', key, -1, total + granted)
  return {used + granted, granted, wait, newest}
end
if newest then
  redis.call('RPUSH', key, at, total + granted)
else
  redis.call('RPUSH', key, 0, at, granted)
end
redis.call('PEXPIRE', key, ${WINDOW_MS + BUCKET_MS})
return {used + granted, granted, wait, at}
`;
