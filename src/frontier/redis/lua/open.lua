-- Opens a partition, making it where that is allowed.
--
-- KEYS     the first set of final URLs
-- ARGV[3]  {make = true while not all partitions of the crawl were made}
-- Reply    {now, level, restarts}
-- Guarantee: a partition that should be there and is not is reported as lost, never made again.

if ASKED.make and redis.call('EXISTS', META) == 0 then
  local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  redis.call('HSET', META, 'layout', OPTIONS.layout, 'generation', OPTIONS.generation, 'server', server, 'latest', NOW,
    'fence', '0', 'level', '0', 'version', '1', 'restarts', '0', 'sealed', '1', 'orders', '0',
    'crowded', '0')
  redis.call('SADD', KEYS[FIRST_OWN], SEAL)
end
local refusal = guard(false)
if refusal then return refusal end

-- What processes that were killed asked last is of no use to anybody after a while. Each opening looks at some of it.
local ASKING_KEPT_MS = 3600000
local askings = redis.call('HSCAN', ASKINGS, redis.call('HGET', META, 'askings_cursor') or '0', 'COUNT', 64)
for index = 1, #askings[2], 2 do
  local asked = tonumber(string.match(askings[2][index + 1], '"now":(%d+)') or '0')
  if asked < NOW - ASKING_KEPT_MS then redis.call('HDEL', ASKINGS, askings[2][index]) end
end
if redis.call('HLEN', ASKINGS) > 0 then redis.call('HSET', META, 'askings_cursor', askings[1]) end
redis.call('HSET', META, 'keys', count_keys())
return cjson.encode({ now = NOW, level = sum('level'), restarts = sum('restarts') })
