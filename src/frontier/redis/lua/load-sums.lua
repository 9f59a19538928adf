-- Adds sums of a crawl that is moved here, which are no count of what was written, and before that how many buckets known
-- URLs are to have.
--
-- ARGV[3]  {moving = true, portion = number, sums = {name → amount}, set = {name → text}, grants = true: pages that are had
--          count as granted (limits.ts)}
-- Reply    {loaded = number of the last portion that is here, level}
-- Guarantee: a portion is taken once, in order of the numbers.

local refusal = guard(false)
if refusal then return refusal end
local loaded = tonumber(redis.call('HGET', META, 'loaded') or '0')
if ASKED.portion > loaded then
  for name, amount in pairs(ASKED.sums) do add_to(name, amount) end
  for name, text in pairs(ASKED.set) do redis.call('HSET', META, name, text) end
  -- Of the sets of that level none is there yet.
  if ASKED.set.level then redis.call('HDEL', META, 'sealed') end
  if ASKED.grants then
    redis.call('HSET', META, 'granted', string.format('%.0f', sum('done') + sum('refreshing')), 'returned', '0',
      'granted_under', limit_in_force())
  end
  loaded = ASKED.portion
  redis.call('HSET', META, 'loaded', loaded)
  save_sums()
end
return cjson.encode({ loaded = loaded, level = sum('level') })
