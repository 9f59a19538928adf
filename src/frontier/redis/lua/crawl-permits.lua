-- Permits to start requests, where a rate is set for all workers together.
--
-- KEYS[1]  hash: at: until when permits were counted, left: how many are left
-- ARGV[1]  the time in ms on a virtual clock, '' for the server's own
-- ARGV[2]  JSON: wanted; perSecond
-- Reply    {"permits":…}
-- Guarantee: over any time t no more are given than perSecond * (t + portion), and one. Unused ones are not saved up
-- beyond a portion. A time that was set back gives none until it is over.

local PORTION_S = 0.25

local asked = cjson.decode(ARGV[2])
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local most = math.max(1, asked.perSecond * PORTION_S)
local found = redis.call('HMGET', KEYS[1], 'at', 'left')
local at = tonumber(found[1] or now)
local left = tonumber(found[2] or 1)
if now > at then left = math.min(most, left + asked.perSecond * (now - at) / 1000) end
local permits = math.max(0, math.min(asked.wanted, math.floor(left)))
redis.call('HSET', KEYS[1], 'at', math.max(at, now), 'left', string.format('%.17g', left - permits))
return cjson.encode({ permits = permits })
