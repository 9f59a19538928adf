-- Splits some of the buckets of known URLs of the level before in two.
--
-- ASKED   level; from; families: { parent's k, parent's o, k and o of the one half, k and o of the other }, of
--         consecutive parents beginning with `from`
-- reply   {"level":…,"split":…}: the first parent that is not split yet; absent when all are, and no more are needed
-- Does nothing when that is not where the splitting stands: somebody else was faster.

local refusal = guard()
if refusal then return refusal end
local known = redis.call('HMGET', META, 'level', 'split', 'sealed')
local now_level, at, is_sealed = tonumber(known[1] or '0'), tonumber(known[2] or nil), known[3] == '1'
if now_level ~= ASKED.level or at ~= ASKED.from then return cjson.encode({ level = now_level, split = at }) end

-- A decimal number has more digits than a Lua number is exact for: it is taken in two portions. Two's complement, as
-- the caller sees it.
local halves = 2 ^ now_level
local function is_upper(name)
  local is_negative = string.byte(name) == 45
  local digits = is_negative and string.sub(name, 2) or name
  local rest = tonumber(string.sub(digits, -9))
  if #digits > 9 then rest = rest + (tonumber(string.sub(digits, 1, -10)) % halves) * 1e9 end
  rest = rest % halves
  if is_negative then rest = (halves - rest) % halves end
  return rest >= halves / 2
end

for _, family in ipairs(ASKED.families) do
  if is_sealed and redis.call('SISMEMBER', KEYS[family[1]], SEAL) == 0 then lost('a set of known URLs') end
  local final = { { SEAL }, { SEAL } }
  for _, name in ipairs(redis.call('SMEMBERS', KEYS[family[1]])) do
    local half = final[is_upper(name) and 2 or 1]
    if name ~= SEAL then half[#half + 1] = name end
  end
  local open = { {}, {} }
  local fields = redis.call('HGETALL', KEYS[family[2]])
  for index = 1, #fields, 2 do
    local half = open[is_upper(fields[index]) and 2 or 1]
    half[#half + 1] = fields[index]
    half[#half + 1] = fields[index + 1]
  end
  for side = 1, 2 do
    local k, o = KEYS[family[2 * side + 1]], KEYS[family[2 * side + 2]]
    for index = 1, #final[side], 1000 do
      redis.call('SADD', k, unpack(final[side], index, math.min(index + 999, #final[side])))
    end
    -- What was put into the half meanwhile was not in the parent.
    for index = 1, #open[side], 1000 do
      redis.call('HSET', o, unpack(open[side], index, math.min(index + 999, #open[side])))
    end
  end
  redis.call('UNLINK', KEYS[family[1]], KEYS[family[2]])
end
at = at + #ASKED.families
if at >= halves / 2 then
  redis.call('HDEL', META, 'split')
  redis.call('HSET', META, 'sealed', '1')
  at = nil
  if now_level < MOST_LEVEL and sum('known') > BUCKET_SIZE * halves then
    now_level, at = now_level + 1, 0
    redis.call('HSET', META, 'level', now_level, 'split', 0)
  end
else
  redis.call('HSET', META, 'split', at)
end
save_sums()
return cjson.encode({ level = now_level, split = at })
