-- The pool from which partitions have what they may fetch of the limit of pages.
--
-- KEYS[1]  hash: server, most, g:<partition> granted to it, r:<partition> returned by it, both of which only grow
-- ARGV[2]  JSON: most: the limit; partitions; partition and wanted; states: [[partition, granted, returned]…] as the
--          partitions have them; all: true when these are all of them
-- Reply    {"granted":…,"returned":…,"got":…} of that partition, or {"unsure":true}: another server answers than
--          before, and may have forgotten grants, or the limit is another, or there is no pool yet or any more; the states
--          of all partitions are to be heard first
-- Guarantee: what is granted and not returned is never more than the limit. Sent twice it may grant twice: that is not
-- lost.

local asked = cjson.decode(ARGV[2])
local POOL = KEYS[1]
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local known = redis.call('HMGET', POOL, 'server', 'most')
if known[1] ~= server or tonumber(known[2]) ~= asked.most then
  if not asked.all then return '{"unsure":true}' end
  redis.call('HSET', POOL, 'server', server, 'most', asked.most)
end
for _, state in ipairs(asked.states) do
  for index, letter in ipairs({ 'g', 'r' }) do
    local field = letter .. ':' .. state[1]
    if state[index + 1] > tonumber(redis.call('HGET', POOL, field) or '0') then
      redis.call('HSET', POOL, field, state[index + 1])
    end
  end
end
local free = asked.most
local fields = redis.call('HGETALL', POOL)
for index = 1, #fields, 2 do
  local letter = string.sub(fields[index], 1, 2)
  if letter == 'g:' then free = free - tonumber(fields[index + 1]) end
  if letter == 'r:' then free = free + tonumber(fields[index + 1]) end
end
-- More than wanted while there is plenty, so that it is not asked for each page.
local portion = math.max(asked.wanted, math.floor(free / (4 * asked.partitions)))
local got = asked.wanted > 0 and math.max(0, math.min(free, portion)) or 0
local granted = redis.call('HINCRBY', POOL, 'g:' .. asked.partition, got)
local returned = tonumber(redis.call('HGET', POOL, 'r:' .. asked.partition) or '0')
return cjson.encode({ granted = granted, returned = returned, got = got })
