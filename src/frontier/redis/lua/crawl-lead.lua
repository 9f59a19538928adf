-- Who leads: one process at a time, for as long as it says so in time.
--
-- KEYS[1]  hash: id, until, server
-- ARGV[1]  the time in ms on a virtual clock, '' for the server's own
-- ARGV[2]  JSON: id; ttlMs to lead or to go on leading; absent to resign
-- Reply    {"leads":true|false}
-- Guarantee: nobody else leads before `until`. On another server than before, which may have forgotten the last leader,
-- nobody begins to lead until the time of one could have run out.

local asked = cjson.decode(ARGV[2])
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
local found = redis.call('HMGET', KEYS[1], 'id', 'until', 'server')
local free = not found[1] or tonumber(found[2]) <= now
if not asked.ttlMs then
  if found[1] == asked.id then redis.call('HSET', KEYS[1], 'until', now) end
  return '{"leads":false}'
end
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if found[3] and found[3] ~= server and found[1] ~= asked.id then
  redis.call('HSET', KEYS[1], 'id', found[1], 'until', now + asked.ttlMs, 'server', server)
  return '{"leads":false}'
end
if not free and found[1] ~= asked.id then return '{"leads":false}' end
redis.call('HSET', KEYS[1], 'id', asked.id, 'until', now + asked.ttlMs, 'server', server)
return '{"leads":true}'
