-- What there is to do in a partition, as far as the fixed keys tell. Everything that a caller must know to declare the keys
-- of the next act is in it: hosts that are due with the names of their first lists, leases that ran out with the lists
-- of their rows, retries that have come due. It is a look: whatever is done about it is verified again.

-- Ranks of a part of a queue that are named, the first ones.
local NAMED_LISTS = 8
-- Leases that ran out, and retries that are due, in one look.
local EXPIRED_AT_ONCE = 64
local RETRIES_AT_ONCE = 256

-- Adds slot and rank of the first lists of a part to what is named of its lane.
local function name_lists(named, slot, lists)
  local ranks = {}
  for name in pairs(lists) do ranks[#ranks + 1] = tonumber(name) end
  if #ranks > 1 then table.sort(ranks) end
  for index = 1, math.min(#ranks, NAMED_LISTS) do
    named[#named + 1] = slot
    named[#named + 1] = ranks[index]
  end
end

-- A lease as it is handed out. Asked again, it is as if granted only now, with the time that is left. Of a URL, its row says
-- everything but the tier, and what its last visit left.
local function lease_reply(lease)
  local host = read_host(lease.host)
  local tasks = {}
  for index, task in ipairs(lease.tasks) do
    tasks[index] = task.row
      and { row = task.row, tier = task.tier, last = task.last and redis.call('HGET', VISITS, task.name) or nil }
      or {
        name = task.name, kind = task.kind, tier = task.tier, origin = task.origin, url = task.url,
        redirects = task.redirects, attempts = task.attempts,
      }
  end
  return {
    fence = lease.fence, host = lease.host, tasks = tasks, granted = NOW, expires = lease.expires,
    delay = math.max(delay_of(host), groups_delay(lease.groups)), address = lease.address,
    version = lease.robots_version, parked = lease.parked, traps = host.traps, turn = lease.turn,
    health = { host.strikes, host.streak, host.streak_since, host.blocked_at, host.latency },
  }
end

-- Leases that are still open, of those with these fences.
local function open_leases(fences)
  local open = {}
  for _, fence in ipairs(fences) do
    local lease = read_lease(fence)
    if lease then open[#open + 1] = lease_reply(lease) end
  end
  return open
end

-- The first time of an order; nil when it is empty.
local function first_score(key)
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2])
end

-- What a caller must know of a host to lease it: key, due (as text, since JSON keeps 14 digits of a number), seq, leases that
-- it may have at once, and its lanes, each as its origin, and slot and rank of each of its first lists.
local function due_host(key, due)
  local host = read_host(key)
  if host == nil then lost('host ' .. key) end
  local lanes = {}
  for _, lane in ipairs(host.lanes) do
    local named = { lane.origin }
    for slot = 1, 4 do
      if next(lane.lists[slot]) then name_lists(named, SLOTS[slot], lane.lists[slot]) end
    end
    if #named > 1 then lanes[#lanes + 1] = named end
  end
  local spare = 1
  if delay_of(host) == 0 then spare = math.max(1, most_leases(host) - host.leases) end
  return { key, due, string.format('%.17g', host.seq), spare, lanes }
end

-- Of one order: its hosts that are due, longest first and at most `count`, and when the next one after them is.
local function read_order(order, count)
  local key = KEYS[FIRST_ORDER + order]
  local found = redis.call('ZRANGE', key, 0, count, 'WITHSCORES')
  local due = {}
  for index = 1, #found, 2 do
    local at = tonumber(found[index + 1])
    if at > NOW then return due, at end
    if #due < count then due[#due + 1] = due_host(found[index], found[index + 1]) end
  end
  if #found < 2 * (count + 1) then return due, nil end
  local upcoming = redis.call('ZRANGEBYSCORE', key, '(' .. NOW, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  return due, upcoming[2] and tonumber(upcoming[2])
end

local LOOK_SUMS = {
  'open', 'held', 'aside', 'sitemaps_open', 'done', 'refreshing', 'leased', 'leased_new', 'version', 'restarts', 'level',
}

-- A key that was deleted or evicted does not look like one that is empty, as far as sums tell.
local function check_counts()
  local ordered = 0
  for order = 0, 15 do ordered = ordered + redis.call('ZCARD', KEYS[FIRST_ORDER + order]) end
  if ordered ~= sum('ordered') then lost('an order of hosts') end
  if redis.call('HLEN', HOSTS) ~= sum('hosts') then lost('a host') end
  if redis.call('HLEN', LEASES) ~= redis.call('ZCARD', EXPIRY) then lost('a lease') end
  if redis.call('HLEN', MOVED) ~= sum('moved') then lost('the place of a row') end
  if sum('held') + sum('aside') > 0 and redis.call('EXISTS', PARKED) == 0 then lost('what is parked') end
  if redis.call('ZCARD', WAITING) ~= sum('retries') then lost('a retry') end
end

-- asked: {count (hosts of each order), classes ('all', 'proven' or 'unproven'), worker, request, judge (whether keys are
-- checked)}
local function look_now(asked)
  if asked.judge then check_counts() end
  local sums = {}
  for index, value in ipairs(redis.call('HMGET', META, unpack(LOOK_SUMS))) do
    sums[LOOK_SUMS[index]] = tonumber(value or '0')
  end
  local orders, upcoming = {}, {}
  for order = 1, 15 do
    if is_order_used(order) then
      local is_wanted = asked.classes == 'all' or (asked.classes == 'proven') == (order >= 8)
      local due, next_due = read_order(order, is_wanted and asked.count or 0)
      if #due > 0 then orders[#orders + 1] = { order, due } end
      if next_due then upcoming[#upcoming + 1] = { order, next_due } end
    end
  end
  local expired = {}
  for _, fence in ipairs(redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', NOW, 'LIMIT', 0, EXPIRED_AT_ONCE)) do
    local lease = read_lease(fence)
    if not lease then lost('lease ' .. fence) end
    local lists = {}
    for _, task in ipairs(lease.tasks) do
      if task.slot and not lease.parked then lists[#lists + 1] = { task.origin, task.slot, task.rank } end
    end
    expired[#expired + 1] = { fence, lists }
  end
  local recalled
  if asked.request then
    local stored = redis.call('HGET', ASKINGS, 'ask:' .. asked.worker)
    local asking = stored and cjson.decode(stored)
    if asking and asking.request == asked.request then recalled = open_leases(asking.fences) end
  end
  return {
    now = NOW, sums = sums, quiet = QUIET, due = orders, upcoming = upcoming, expired = expired,
    retries = redis.call('ZRANGEBYSCORE', WAITING, '-inf', NOW, 'LIMIT', 0, RETRIES_AT_ONCE),
    leases = redis.call('HLEN', LEASES), expiry = first_score(EXPIRY), waiting = first_score(WAITING),
    visit = first_score(REVISITS), undelivered = redis.call('HLEN', UNDELIVERED),
    parked = redis.call('ZRANGE', PARKED, 0, 0)[1], recalled = recalled,
  }
end
