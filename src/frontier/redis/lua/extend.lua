-- A slow page keeps its host: the lease ends later.
--
-- KEYS     the lists of the rows of the lease, where it is asserted
-- ARGV[3]  {fence, host, assert = the lease as its holder knows it (or nothing): {worker, version, tasks, lists = number of
--          the list of each task, 0 for none}}
-- Reply    {now, extended = bool, restarts}
-- Guarantee: a lease that is over, or has been extended too often, is not extended. While the partition keeps quiet because
-- its server changed, a lease that this server does not know is written down again as its holder has it, if the host may
-- have one: what was lost is that its rows were taken out of their queues, and now they are. Rows that are not there are
-- not part of it, and a lease without any is not extended.

local refusal = guard(true)
if refusal then return refusal end

local lease = read_lease(ASKED.fence)

-- True when the task could be taken out again of where it stands.
local function take_again(host, task, list)
  if task.errand then
    for _, errand in ipairs(host.errands) do
      if errand.origin == task.origin and not errand.leased then
        errand.leased = true
        return true
      end
    end
    return false
  end
  for _, lane in ipairs(host.lanes) do
    if lane.origin == task.origin then
      if task.kind == 'r' then
        local is_free = not lane.robots_leased
        lane.robots_leased = true
        return is_free
      end
      -- A copy that does not count is no proof that the URL is open: it may have ended, or stand elsewhere.
      local place = place_of(task.name)
      if place and place ~= place_in(task.slot, task.rank) then return false end
      if redis.call('LREM', list, 1, stow_row(task.row)) == 0 then return false end
      taken_from(host, lane, SLOT_INDEX[task.slot], task.rank, true)
      mark_out(task.name)
      return true
    end
  end
  return false
end

if not lease and ASKED.assert and QUIET > NOW then
  local host = read_host(ASKED.host)
  if host and host.leases < most_leases(host) then
    local tasks = {}
    for index, task in ipairs(ASKED.assert.tasks) do
      if take_again(host, task, KEYS[ASKED.assert.lists[index]]) then tasks[#tasks + 1] = task end
    end
    if #tasks > 0 then
      lease = {
        fence = ASKED.fence, host = ASKED.host, worker = ASKED.assert.worker, tasks = tasks, granted = NOW,
        granted_before = host.granted, expires = NOW, extensions = 0, groups = groups_of(host),
        robots_version = ASKED.assert.version,
      }
      host.leases = host.leases + 1
      host.granted = NOW
      if host.leases == 1 then add_to('active', 1) end
      for _, task in ipairs(tasks) do count_leased(host, lease, task, 1) end
      take_groups(lease.groups, lease.expires)
      leases[lease.fence] = lease
      touch(host)
    end
  end
end

local extended = lease ~= nil and lease.host == ASKED.host and lease.extensions < OPTIONS.extensions
if extended then
  lease.extensions = lease.extensions + 1
  lease.expires = NOW + OPTIONS.leaseMs
  extend_groups(lease.groups, lease.expires)
  touch_lease(lease)
  save_leases()
  save_hosts()
end
return cjson.encode({ now = NOW, extended = extended, restarts = sum('restarts') })
