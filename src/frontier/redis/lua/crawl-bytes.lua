-- The bytes that all workers have fetched, where there is a limit to them.
--
-- KEYS[1]  string: the sum
-- ARGV[1]  the time, not used
-- ARGV[2]  JSON: bytes: to be added; corrected: what the sum is in truth, when it is less than it seems
-- Reply    {"bytes":…}
-- Guarantee: no less than what was added since the last correction. A call that is repeated adds twice, so whoever finds
-- the limit passed asks the partitions, which count each outcome once, before anything is ended.

local asked = cjson.decode(ARGV[2])
local bytes = asked.corrected or tonumber(redis.call('GET', KEYS[1]) or 0)
bytes = bytes + asked.bytes
if asked.bytes > 0 or asked.corrected then redis.call('SET', KEYS[1], string.format('%.0f', bytes)) end
return string.format('{"bytes":%.0f}', bytes)
