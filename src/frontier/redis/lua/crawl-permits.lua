-- Permits to start requests, where a rate is set for all workers together.
--
-- KEYS[1]  hash: at: the time of the last call, even: how many are left of what is given out evenly,
--          taken: JSON, pairs of a time and how many places come free then
-- ARGV[1]  the time in ms on a virtual clock, '' for the server's own
-- ARGV[2]  JSON: wanted; perSecond; goodMs: a request starts within this time of its permit, or not at all
-- Reply    {"permits":…}
-- Guarantee: no more than perSecond requests start in any second. There are so many places, and a permit holds one until a
-- second after it has run out; so of requests that start within a second, the last one to be permitted found places for
-- all of them. Besides, no more than perSecond * (t + a quarter of a second), and one, are given over any time t. A time
-- that was set back moves what is taken back with it; one that was set forward by more than a second lets go of it.

local AT_ONCE_S = 0.25
local SECOND_MS = 1000
-- Places that come free within this time do so together, at its end: so there are few times to remember.
local TOGETHER_MS = 5

local asked = cjson.decode(ARGV[2])
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local most = math.max(1, asked.perSecond * AT_ONCE_S)
local found = redis.call('HMGET', KEYS[1], 'at', 'even', 'taken')
local at = tonumber(found[1] or now)
local even = tonumber(found[2] or 1)
local backMs = math.max(0, at - now)
even = math.min(most, even + asked.perSecond * math.max(0, now - at) / 1000)

-- With a rate below one in a second there is one place, which `even` lets go of.
local free = math.max(1, asked.perSecond)
local taken = {}
local untilAt = math.ceil((now + asked.goodMs + SECOND_MS) / TOGETHER_MS) * TOGETHER_MS
local together
for _, place in ipairs(cjson.decode(found[3] or '[]')) do
  place[1] = place[1] - backMs
  if place[1] > now then
    free = free - place[2]
    taken[#taken + 1] = place
    if place[1] == untilAt then together = place end
  end
end

local permits = math.max(0, math.min(asked.wanted, math.floor(even), math.floor(free)))
if together then together[2] = together[2] + permits elseif permits > 0 then taken[#taken + 1] = { untilAt, permits } end
redis.call('HSET', KEYS[1], 'at', now, 'even', string.format('%.17g', even - permits),
  'taken', #taken == 0 and '[]' or cjson.encode(taken))
return cjson.encode({ permits = permits })
