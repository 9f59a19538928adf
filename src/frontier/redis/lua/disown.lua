-- Leases of a worker whose process is dead: they run out soon. What it sent last may still be on its way to the host, or
-- wait there to be read, and nobody will hear the answer: that much time is left to it.
--
-- ARGV[3]  {worker}
-- Reply    {leases = how many}

local refusal = guard(true)
if refusal then return refusal end

local ON_ITS_WAY_MS = 3000

local count = 0
for _, fence in ipairs(redis.call('HKEYS', LEASES)) do
  local lease = read_lease(fence)
  if lease.worker == ASKED.worker then
    lease.expires = math.min(lease.expires, NOW + ON_ITS_WAY_MS)
    lease.settling = nil
    touch_lease(lease)
    count = count + 1
  end
end
save_leases()
save_hosts()
return cjson.encode({ leases = count })
