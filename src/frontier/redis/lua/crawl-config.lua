-- The configuration of a crawl, and whether it was halted.
--
-- KEYS[1]  hash: config, halted
-- ARGV[2]  JSON: config: proposed, absent to read only; halt: the reason, absent not to halt it; replace: another
--          configuration, in the place of the first; resume: true to lift a halt
-- Reply    {"config":…,"halted":…}, what is not there is absent
-- Guarantee: the first configuration stays until it is replaced, and the first reason until it is lifted.

local asked = cjson.decode(ARGV[2])
if asked.config then redis.call('HSETNX', KEYS[1], 'config', asked.config) end
if asked.replace then redis.call('HSET', KEYS[1], 'config', asked.replace) end
if asked.resume then redis.call('HDEL', KEYS[1], 'halted') end
if asked.halt then redis.call('HSETNX', KEYS[1], 'halted', asked.halt) end
local found = redis.call('HMGET', KEYS[1], 'config', 'halted')
return cjson.encode({ config = found[1] or nil, halted = found[2] or nil })
