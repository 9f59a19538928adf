-- Grants leases on hosts that the caller found due, verifying each at this moment, and takes their rows out of the queues.
--
-- KEYS     the lists named in `lists`; aside:<host> where hosts have a budget
-- ARGV[3]  {worker, request (or nothing), client, call, most (leases), picks = [{host, turn (its place in
--          the answer), tiers (bits), tasks (at most), policy,
--          lists = [origin, slot, rank, number of its key, …], aside = number of that key (or nothing)}…],
--          stepped = true when a clock was set, look = what shared/look.lua takes}
-- Reply    {now, leases = [[number of its pick, lease]…], later, more, nothing = [numbers of picks…], short = pages for
--          which there was no room, look, looked = whether that look has hosts}
--          later: its due time was too early and has been put right. more: rows were set aside or dropped, there is more
--          behind them. nothing: due, but with nothing that may be leased.
-- Guarantee: a host is leased only when it is due, with fewer leases than it may have and its groups free, by this server's
-- time. The same call again (client, call) grants nothing, and answers the leases of the first that are still open.

local refusal = guard(true)
if refusal then return refusal end

-- Copies that are dropped and rows that are set aside on the way to one lease.
local DROPPED_PER_LEASE = 256
local ALL_TIERS = 7

local asking_field = 'lease:' .. ASKED.client
local asked_before = redis.call('HGET', ASKINGS, asking_field)
if asked_before then
  local asking = cjson.decode(asked_before)
  if asking.call == ASKED.call then
    local again = {}
    for index, lease in ipairs(open_leases(asking.fences)) do again[index] = { 0, lease } end
    return cjson.encode({
      now = NOW, leases = again, later = {}, more = {}, nothing = {}, short = 0, looked = true,
      look = look_now(ASKED.look),
    })
  end
end

local short = 0
-- Nearly all crawls have none, and then nobody need ask for each row.
local has_visits = redis.call('HLEN', VISITS) > 0

-- The first list of a lane with something of these tiers: number of its part, rank.
local function head_of(host, lane, tiers)
  local best_slot, best_rank
  for slot = 1, 4 do
    if lane.queued[slot] > 0 and bit.band(TIER_BIT[slot_tier(host, slot)], tiers) ~= 0 then
      for name in pairs(lane.lists[slot]) do
        local rank = tonumber(name)
        if best_rank == nil or rank < best_rank then best_slot, best_rank = slot, rank end
      end
    end
  end
  return best_slot, best_rank
end

local function list_of(lists, origin, slot, rank)
  for index = 1, #lists, 4 do
    if lists[index + 2] == rank and lists[index + 1] == SLOTS[slot] and lists[index] == origin then
      return KEYS[lists[index + 3]]
    end
  end
  return nil
end

-- New pages that may be leased: of all hosts of this partition, and of this host.
local function room_of(host)
  local room = pages_room() or math.huge
  if OPTIONS.maxPagesPerHost then room = math.min(room, OPTIONS.maxPagesPerHost - host.pages - host.leased_new) end
  return room
end

-- The next rows of a lane, in order, out of its queue. The second answer says that there may be more behind what was
-- dropped or set aside, or behind lists that the caller did not name.
local function take_rows(host, lane, pick, tiers, most)
  local tasks, fresh, dropped = {}, 0, 0
  while #tasks < most and dropped < DROPPED_PER_LEASE do
    local slot, rank = head_of(host, lane, tiers)
    if slot == nil then return tasks, dropped > 0 end
    local list = list_of(pick.lists, lane.origin, slot, rank)
    if list == nil then return tasks, true end
    local stored = redis.call('LINDEX', list, 0)
    if not stored then lost('the queue of ' .. lane.origin) end
    local row = unstow_row(stored, lane.origin, SLOTS[slot], rank)
    local fields = row_fields(row)
    if is_ghost(fields.name, SLOTS[slot], rank) then
      redis.call('LPOP', list)
      taken_from(host, lane, slot, rank, false)
      dropped = dropped + 1
    else
      local was_had = has_visits and redis.call('HEXISTS', VISITS, fields.name) == 1
      local is_new = fields.kind == 'p' and not was_had
      if is_new and OPTIONS.maxPagesPerHost and host.pages >= OPTIONS.maxPagesPerHost and pick.aside then
        redis.call('LPOP', list)
        taken_from(host, lane, slot, rank, true)
        park('aside', host, fields.name, row_with(row, { reason = 'host-budget' }), KEYS[pick.aside])
        dropped = dropped + 1
      else
        -- No room is left for a page that was never had; behind it there can only be more of them.
        if is_new and room_of(host) <= fresh then
          if (pages_room() or math.huge) <= fresh then short = short + most - #tasks end
          return tasks, dropped > 0
        end
        redis.call('LPOP', list)
        taken_from(host, lane, slot, rank, true)
        mark_out(fields.name)
        if is_new then fresh = fresh + 1 end
        tasks[#tasks + 1] = {
          name = fields.name, kind = fields.kind, row = row, slot = SLOTS[slot], rank = rank, origin = lane.origin,
          tier = slot_tier(host, slot), last = was_had,
        }
      end
    end
  end
  return tasks, dropped > 0
end

local function robots_task(host, origin, tiers, url, redirects, attempts, is_errand)
  local tier = host.tier
  for index = 3, 1, -1 do
    if bit.band(TIER_BIT[SLOTS[index]], tiers) ~= 0 then tier = SLOTS[index] end
  end
  return {
    name = 'r:' .. origin, kind = 'r', url = url, origin = origin, tier = tier, redirects = redirects,
    attempts = attempts, errand = is_errand,
  }
end

-- schedule.ts, tasksPerLease.
local LEASE_WAIT_MS = 50
local LEASE_TASKS = 16
local function tasks_per_lease(host, lane)
  if are_hosts_grouped() then return 1 end
  local delay, concurrency = delay_of(host), host.policy_concurrency
  if delay > 0 and concurrency > 1 then return 1 end
  local by_pace = delay == 0 and LEASE_TASKS or math.floor(LEASE_WAIT_MS / delay)
  local waiting = lane.queued[1] + lane.queued[2] + lane.queued[3] + lane.queued[4]
  return math.max(1, math.min(by_pace, math.ceil(waiting / concurrency), LEASE_TASKS))
end

-- What this host does next: an errand, the robots.txt of a lane, or the head of its best lane. Answers tasks, the version
-- of robots.txt that they are under, and whether there may be more.
local function next_work(host, pick, tiers)
  for _, errand in ipairs(host.errands) do
    if not errand.leased then
      errand.leased = true
      return { robots_task(host, errand.origin, tiers, errand.url, errand.redirects, errand.attempts or 0, true) }
    end
  end
  local best, best_rank
  for _, lane in ipairs(host.lanes) do
    if not (lane.robots_leased or lane.moved) and (is_in_force(host, lane) or lane.not_before <= NOW) then
      local slot, rank = head_of(host, lane, tiers)
      if slot and (best == nil or rank < best_rank) then best, best_rank = lane, rank end
    end
  end
  if best == nil then return {} end
  if not is_in_force(host, best) then
    best.robots_leased = true
    return { robots_task(host, best.origin, tiers, best.origin .. '/robots.txt', 0, best.attempts) }
  end
  local tasks, has_more = take_rows(host, best, pick, tiers, math.min(pick.tasks, tasks_per_lease(host, best)))
  if #tasks > 0 then best.robots_unused = nil end
  return tasks, best.version, has_more
end

local granted, later, more, nothing, fences = {}, {}, {}, {}, {}

local function try(number, pick)
  local host = read_host(pick.host)
  if host == nil then
    later[#later + 1] = number
    return
  end
  apply_policy(host, pick.policy)
  touch(host)
  local due = due_of(host)
  if due == nil or due > NOW then
    later[#later + 1] = number
    return
  end
  local groups = groups_of(host)
  local place = place_among(host, groups)
  if place then
    host.place = place
    later[#later + 1] = number
    return
  end
  local tasks, version, has_more = next_work(host, pick, pick.tiers)
  if #tasks == 0 then
    local more_here = has_more
    tasks, version, has_more = next_work(host, pick, ALL_TIERS)
    has_more = has_more or more_here
  end
  if #tasks == 0 then
    local still = due_of(host)
    local answer = (still == nil or still > NOW) and later or (has_more and more or nothing)
    answer[#answer + 1] = number
    return
  end
  local lease = open_lease(host, {
    worker = ASKED.worker, tasks = tasks, robots_version = version, groups = groups, turn = pick.turn,
    address = OPTIONS.addressDelayMs > 0 and host.address or nil,
  })
  fences[#fences + 1] = lease.fence
  granted[#granted + 1] = { number, lease_reply(lease) }
end

if QUIET > NOW then
  for number in ipairs(ASKED.picks) do nothing[number] = number end
else
  forget_groups()
  for number, pick in ipairs(ASKED.picks) do
    if #granted < ASKED.most then try(number, pick) end
  end
end

if #fences > 0 then
  redis.call('HSET', ASKINGS, asking_field, cjson.encode({ call = ASKED.call, fences = fences, now = NOW }))
  if ASKED.request then
    local field = 'ask:' .. ASKED.worker
    local stored = redis.call('HGET', ASKINGS, field)
    local asking = stored and cjson.decode(stored)
    if not asking or asking.request ~= ASKED.request then asking = { request = ASKED.request, fences = {} } end
    for _, fence in ipairs(fences) do asking.fences[#asking.fences + 1] = fence end
    asking.now = NOW
    redis.call('HSET', ASKINGS, field, cjson.encode(asking))
  end
end
save_leases()
save_hosts()
-- Hosts are worth another look only when some of these were not due after all.
local looked = #granted < math.min(ASKED.most, #ASKED.picks)
if not looked then ASKED.look.count = 0 end
return cjson.encode({
  now = NOW, leases = granted, later = later, more = more, nothing = nothing, short = short, looked = looked,
  look = look_now(ASKED.look),
})
