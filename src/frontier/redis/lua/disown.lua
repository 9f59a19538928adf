-- Leases of a worker whose process is dead: they run out now. Something may have been sent under them until this moment.
--
-- ARGV[3]  {worker}
-- Reply    {leases = how many}

local refusal = guard(true)
if refusal then return refusal end

local count = 0
for _, fence in ipairs(redis.call('HKEYS', LEASES)) do
  local lease = read_lease(fence)
  if lease.worker == ASKED.worker then
    lease.expires = math.min(lease.expires, NOW)
    lease.settling = nil
    touch_lease(lease)
    count = count + 1
  end
end
save_leases()
save_hosts()
return cjson.encode({ leases = count })
