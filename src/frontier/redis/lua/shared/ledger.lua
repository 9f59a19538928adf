-- The leases that are out: who may talk to which host until when, and with which tasks. A row that is leased stands in no
-- queue, it is kept in its lease. One lease is read once in a verb and written once, by `save_leases`, which goes before
-- `save_hosts`.
--
-- A lease: fence (digits), host, worker, granted, granted_before, expires, settling, extensions, parked, answered,
-- robots_version, address, groups (names), tasks. Its tasks, in order and without those that are settled: name, kind
-- ('p', 's' or 'r'), row, slot, rank, tier, last (true for a page that was had before), origin; for a robots.txt url,
-- redirects and errand instead of row, slot and rank. A task's name is the fingerprint of its URL, or `r:` and the origin.

-- --- leases ---------------------------------------------------------------------------------------------------------

local leases = {}
local touched_leases = {}

local function read_lease(fence)
  local known = leases[fence]
  if known ~= nil then return known or nil end
  local stored = redis.call('HGET', LEASES, fence)
  local lease = stored and cmsgpack.unpack(stored)
  leases[fence] = lease
  return lease or nil
end

local function touch_lease(lease)
  touched_leases[lease.fence] = lease
end

-- When it is over, if nobody says otherwise: a lease that is being settled is given the time that takes.
local function lease_end(lease)
  return math.max(lease.expires, lease.settling or 0)
end

local function count_leased(host, lease, task, by)
  if task.kind ~= 'p' then return end
  add_to('leased', by)
  if task.last or lease.parked then return end
  add_to('leased_new', by)
  host.leased_new = host.leased_new + by
end

-- Writes down a lease on this host. The caller gives worker, tasks, parked, robots_version, address and groups; its tasks
-- are out of their queues (`mark_out`), and their robots.txt or errands are marked as leased.
local function open_lease(host, lease)
  lease.fence = string.format('%.0f', next_fence())
  lease.host = host.key
  lease.granted = NOW
  lease.expires = NOW + OPTIONS.leaseMs
  lease.extensions = 0
  lease.groups = lease.groups or {}
  if not lease.parked then
    lease.granted_before = host.granted
    host.granted = NOW
    host.place = 0
    take_groups(lease.groups, lease.expires)
  end
  host.leases = host.leases + 1
  if host.leases == 1 then add_to('active', 1) end
  for _, task in ipairs(lease.tasks) do count_leased(host, lease, task, 1) end
  leases[lease.fence] = lease
  touch_lease(lease)
  touch(host)
  return lease
end

-- The number of a task in its lease; nil when it is not there, or no longer.
local function task_at(lease, name)
  for index, task in ipairs(lease.tasks) do
    if task.name == name then return index end
  end
  return nil
end

-- The host answered, or failed to, something that was sent under this lease.
local function answered_under(lease, at)
  local host = read_host(lease.host)
  lease.answered = math.max(lease.answered or 0, at)
  host.answered = math.max(host.answered or 0, at)
  touch_lease(lease)
  touch(host)
end

-- A lease that is over, one way or the other: its host is free for the next.
local function end_lease(lease)
  local host = read_host(lease.host)
  host.leases = host.leases - 1
  if host.leases == 0 then add_to('active', -1) end
  -- Nothing was sent, so nothing is to be kept away from: the host is due as it was before.
  if not lease.answered and not lease.parked and host.granted == lease.granted then host.granted = lease.granted_before end
  touch(host)
  release_groups(lease.groups, lease.answered)
end

-- Takes a task out of its lease, which is over with its last one. What becomes of the task is up to the caller: a row is
-- in no queue until somebody puts it there. Answers the task.
local function release_task(lease, index)
  local host = read_host(lease.host)
  local task = table.remove(lease.tasks, index)
  if task.kind == 'r' then
    if task.errand then
      for _, errand in ipairs(host.errands) do
        if errand.origin == task.origin then errand.leased = nil end
      end
    else
      for _, lane in ipairs(host.lanes) do
        if lane.origin == task.origin then lane.robots_leased = nil end
      end
    end
  end
  count_leased(host, lease, task, -1)
  touch(host)
  touch_lease(lease)
  if #lease.tasks == 0 then end_lease(lease) end
  return task
end

-- A row that was out goes to the front of the list that it came from.
local function put_back(host, task, list)
  local _, lane = settle_in(host.key, task.origin)
  mark_queued(task.name, task.slot, task.rank)
  enqueue(host, lane, task.slot, task.rank, list, task.row, true)
end

local function save_leases()
  local over, open, ends = {}, {}, {}
  for fence, lease in pairs(touched_leases) do
    if #lease.tasks == 0 then
      over[#over + 1] = fence
      leases[fence] = false
    else
      open[#open + 1] = fence
      open[#open + 1] = cmsgpack.pack(lease)
      ends[#ends + 1] = string.format('%.0f', lease_end(lease))
      ends[#ends + 1] = fence
    end
  end
  call_with_all('HDEL', LEASES, over)
  call_with_all('ZREM', EXPIRY, over)
  call_with_all('HSET', LEASES, open)
  call_with_all('ZADD', EXPIRY, ends)
  touched_leases = {}
end
