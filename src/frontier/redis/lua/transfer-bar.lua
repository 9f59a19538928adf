-- Bars a partition, so that every verb is refused with the reason, or opens it again.
--
-- ARGV[3]  {moving = true, bar = text} or {moving = true, lift = true}
-- Reply    {now, leases = how many are out, expiry = when the last of them is over}
-- Guarantee: once barred, nothing is leased or settled here.

local refusal = guard(false)
if refusal then return refusal end

if ASKED.bar then redis.call('HSET', META, 'barred', ASKED.bar) end
if ASKED.lift then redis.call('HDEL', META, 'barred') end
save_sums()
local last = redis.call('ZRANGE', EXPIRY, -1, -1, 'WITHSCORES')
return cjson.encode({ now = NOW, leases = redis.call('HLEN', LEASES), expiry = last[2] and tonumber(last[2]) })
