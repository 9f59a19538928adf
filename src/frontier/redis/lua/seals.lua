-- Makes sure that sets of final URLs are there, seal and all, which nobody may have asked for a long time.
--
-- KEYS     some of these sets, of one level
-- ARGV[3]  {level}
-- Reply    {now, level}
-- Nothing is looked for while sets are split, nor at another level than the one that the caller counts on.

local refusal = guard(false)
if refusal then return refusal end
local known = redis.call('HMGET', META, 'level', 'split', 'sealed')
local now_level = tonumber(known[1] or '0')
if now_level == ASKED.level and not known[2] and known[3] == '1' then
  for index = FIRST_OWN, #KEYS do
    if redis.call('SISMEMBER', KEYS[index], SEAL) == 0 then lost('a set of known URLs') end
  end
end
return cjson.encode({ now = NOW, level = now_level })
