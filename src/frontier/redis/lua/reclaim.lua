-- Takes back leases that ran out, and puts retries whose time has come into their queues.
--
-- KEYS     the lists of the rows
-- ARGV[3]  {expired = [[fence, [number of the list of each row that stands in one, in order]]…],
--          retries = [[row, host, origin, slot, rank, number of its list, policy]…], look = what shared/look.lua takes}
-- Reply    as that of look
-- Guarantee: a lease that was settled or extended meanwhile, or is being settled, and a retry that has gone, stay as they are.

local refusal = guard(false)
if refusal then return refusal end

for _, item in ipairs(ASKED.expired) do
  local lease = read_lease(item[1])
  local rows = 0
  for _, task in ipairs(lease and lease.tasks or {}) do
    if task.slot and not lease.parked then rows = rows + 1 end
  end
  if lease and NOW >= lease_end(lease) and rows == #item[2] then
    local host = read_host(lease.host)
    -- Its holder may have sent something at the very last moment.
    if not lease.parked then answered_under(lease, lease.expires) end
    -- From the last to the first, each to the front: so they stand as they stood.
    while #lease.tasks > 0 do
      local task = release_task(lease, #lease.tasks)
      if task.slot and not lease.parked then
        put_back(host, task, KEYS[item[2][rows]])
        rows = rows - 1
      end
    end
  end
end

for _, item in ipairs(ASKED.retries) do
  local text, key, origin, slot, rank, list, policy = unpack(item)
  if redis.call('ZREM', WAITING, text) == 1 then
    add_to('retries', -1)
    local name = row_name(text)
    local place, ghosts = place_of(name)
    if place == 'x' then
      -- It became final while it waited.
      set_place(name, ghosts > 1 and 'x' or nil, ghosts - 1)
    else
      local host, lane = settle_in(key, origin)
      apply_policy(host, policy)
      mark_queued(name, slot, rank)
      enqueue(host, lane, slot, rank, KEYS[list], text, true)
    end
  end
end

save_leases()
save_hosts()
return cjson.encode(look_now(ASKED.look))
