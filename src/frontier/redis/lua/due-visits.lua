-- Which visits are due. Changes nothing.
--
-- ASKED  until: those due by then; count: at most so many
-- reply  visits = { { fingerprint, what is kept of it }, … }, soonest first

local refused = guard(false)
if refused then return refused end
local visits = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', REVISITS, '-inf', ASKED['until'], 'LIMIT', 0, ASKED.count)) do
  local kept = redis.call('HGET', VISITS, name)
  if not kept then lost('visit ' .. name) end
  visits[#visits + 1] = { name, kept }
end
return cjson.encode({ visits = visits })
