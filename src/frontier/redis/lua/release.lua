-- Gives leases back whose holder sends nothing more under them: their tasks are queued as if never leased.
--
-- KEYS     the lists of the rows
-- ARGV[3]  {client, leases = [[fence, [number of the list of each task, 0 for none]]…]}
-- Reply    {now}
-- Guarantee: a lease that is over, or of which some tasks were settled since, is left as it is; it runs out by itself.

local refusal = guard(false)
if refusal then return refusal end

for _, item in ipairs(ASKED.leases) do
  local lease = read_lease(item[1])
  if lease and #lease.tasks == #item[2] then
    local host = read_host(lease.host)
    -- From the last to the first, each to the front: so they stand as they stood.
    for index = #item[2], 1, -1 do
      local task = release_task(lease, index)
      if task.slot and not lease.parked then put_back(host, task, KEYS[item[2][index]]) end
    end
  end
end
redis.call('HDEL', ASKINGS, 'lease:' .. ASKED.client, 'settle:' .. ASKED.client, 'add:' .. ASKED.client)
save_leases()
save_hosts()
return cjson.encode({ now = NOW })
