-- Buckets of known URLs: how many there are in some of them, or whether some URLs are in theirs. Changes nothing, also of a
-- crawl that was moved.
--
-- KEYS     the buckets
-- ARGV[3]  {final = [numbers of sets…], open = [numbers of hashes…],
--          urls = [[fingerprint, [numbers of sets that may have it…], [numbers of hashes that may have it…]]…], moving = true}
-- Reply    {level, split (or nothing), final = entries of all these sets, open = entries of all these hashes,
--          states = ['open', 'final' or 'unknown' for each…],
--          depths = [[depth, referrers, slot, hour] of each that is open, otherwise false…]}

local refusal = guard(false)
if refusal then return refusal end

local final, open = 0, 0
for _, number in ipairs(ASKED.final) do
  final = final + redis.call('SCARD', KEYS[number]) - redis.call('SISMEMBER', KEYS[number], SEAL)
end
for _, number in ipairs(ASKED.open) do open = open + redis.call('HLEN', KEYS[number]) end
local states, depths = {}, {}
for index, url in ipairs(ASKED.urls) do
  states[index], depths[index] = 'unknown', false
  for _, number in ipairs(url[2]) do
    if redis.call('SISMEMBER', KEYS[number], url[1]) == 1 then states[index] = 'final' end
  end
  for _, number in ipairs(url[3]) do
    local value = redis.call('HGET', KEYS[number], url[1])
    if value then
      local depth, referrers, slot, hour = unpack_open(tonumber(value))
      states[index], depths[index] = 'open', { depth, referrers, slot, hour }
    end
  end
end
local known = redis.call('HMGET', META, 'level', 'split')
return cjson.encode({
  level = tonumber(known[1] or '0'), split = tonumber(known[2] or nil), final = final, open = open, states = states,
  depths = depths,
})
