-- Who is alive: processes that work on a crawl say so now and then, and are forgotten when they do not.
--
-- KEYS[1]  hash: id → what it said of itself
-- KEYS[2]  sorted set: id → when it is forgotten
-- ARGV[1]  the time in ms on a virtual clock, '' for the server's own
-- ARGV[2]  JSON: id, member (text), ttlMs; all absent to read only
-- Reply    {"members":[text…]} when nothing is said, {} otherwise

local asked = cjson.decode(ARGV[2])
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[2], id)
end
if asked.id then
  redis.call('HSET', KEYS[1], asked.id, asked.member)
  redis.call('ZADD', KEYS[2], now + asked.ttlMs, asked.id)
  return '{}'
end
return cjson.encode({ members = redis.call('HVALS', KEYS[1]) })
