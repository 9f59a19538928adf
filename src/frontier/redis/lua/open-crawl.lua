-- Makes a crawl, or says what it is. One crawl has one generation: whoever comes first draws it.
--
-- KEYS[1]  the hash of the crawl; to look whether all is there, KEYS[2] the hash of its configuration, KEYS[3] its seeds
-- ARGV[2]  JSON: layout, generation, partitions as proposed; or {complete = true, generation} when all of its
--          partitions were made; or {look = true} to read only
-- Reply    JSON: layout, generation, partitions, complete, barred if it may not be used, missing: what was there at an
--          earlier look and is not now; {} if there is none
-- Guarantee: asked twice it answers the same; what is there is never changed but for `complete`.

local asked = cjson.decode(ARGV[2])
local CRAWL = KEYS[1]
if asked.complete then
  if redis.call('HGET', CRAWL, 'generation') == asked.generation then redis.call('HSET', CRAWL, 'complete', '1') end
elseif not asked.look and redis.call('EXISTS', CRAWL) == 0 then
  redis.call('HSET', CRAWL, 'layout', asked.layout, 'generation', asked.generation, 'partitions', asked.partitions)
end
local found = redis.call('HMGET', CRAWL, 'layout', 'generation', 'partitions', 'complete', 'barred')
if not found[2] then return '{}' end
local missing
if KEYS[2] then
  local seen = redis.call('HMGET', CRAWL, 'configured', 'seeded')
  local configured, seeded = redis.call('HEXISTS', KEYS[2], 'config'), redis.call('EXISTS', KEYS[3])
  if seen[1] == '1' and configured == 0 then missing = 'its configuration' end
  if seen[2] == '1' and seeded == 0 then missing = 'the list of its seeds' end
  if configured == 1 and not seen[1] then redis.call('HSET', CRAWL, 'configured', '1') end
  if seeded == 1 and not seen[2] then redis.call('HSET', CRAWL, 'seeded', '1') end
end
return cjson.encode({
  layout = found[1], generation = found[2], partitions = found[3],
  complete = found[4] == '1', barred = found[5] or nil, missing = missing,
})
