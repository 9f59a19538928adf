-- The record of a crawl, for whoever looks at it or moves it: it is read whole, made while it is moved here, and barred
-- while it may not be worked on.
--
-- KEYS[1]  the hash of the crawl
-- ARGV[2]  JSON: make = {layout, generation, partitions} for a crawl that is not there; set = {field → text};
--          unset = [fields]; generation = only if it is of that one. All may be absent.
-- Reply    JSON: the fields; {} if there is none. {"other":"1"} if it is of another generation.
-- Guarantee: asked twice it does the same once more; a crawl that is there is never made again.

local asked = cjson.decode(ARGV[2])
local CRAWL = KEYS[1]
if asked.make and redis.call('EXISTS', CRAWL) == 0 then
  redis.call('HSET', CRAWL, 'layout', asked.make.layout, 'generation', asked.make.generation,
    'partitions', asked.make.partitions)
  for field, text in pairs(asked.make.set) do redis.call('HSET', CRAWL, field, text) end
end
if asked.generation and redis.call('HGET', CRAWL, 'generation') ~= asked.generation then return '{"other":"1"}' end
for field, text in pairs(asked.set or {}) do redis.call('HSET', CRAWL, field, text) end
for _, field in ipairs(asked.unset or {}) do redis.call('HDEL', CRAWL, field) end
local flat, fields = redis.call('HGETALL', CRAWL), {}
for index = 1, #flat, 2 do fields[flat[index]] = flat[index + 1] end
return cjson.encode(fields)
