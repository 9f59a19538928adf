-- Which worker asks which partitions first.
--
-- KEYS[1]  hash: worker → JSON list of partitions
-- ARGV[2]  JSON: all: { worker: text of its list } to replace everything; or worker: to be read
-- Reply    {"partitions":text}, absent for a worker without an assignment

local asked = cjson.decode(ARGV[2])
if asked.all then
  redis.call('DEL', KEYS[1])
  for worker, partitions in pairs(asked.all) do redis.call('HSET', KEYS[1], worker, partitions) end
  return '{}'
end
return cjson.encode({ partitions = redis.call('HGET', KEYS[1], asked.worker) or nil })
