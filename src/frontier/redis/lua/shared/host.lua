-- Hosts: their state, when they are due, and their queues. One host is read once in a verb and written once, at its end.
--
-- A lane is the queue of one origin. It has up to four parts (slots): one for each tier, and `auto` for URLs of whichever
-- tier the host is in. A part is a number of lists, one for each rank; the rows of a list are in order of discovery. A row
-- that was found a better place stands in two lists: it counts in one, and the other copy is a ghost, dropped when it
-- comes up.

local SLOTS = { 'high', 'medium', 'low', 'auto' }
local TIER_BIT = { high = 1, medium = 2, low = 4 }
local UNKNOWN_DEPTH = 65535
-- Ranks of one part that have a list of their own; beyond, a row goes to the nearest list that is not before it. A
-- partition where some part has had half as many is marked as crowded: in others nobody need count them.
local MOST_LISTS = 64

-- Hosts and their lanes are stored as lists of their fields in this order: append, and raise the layout when one changes its
-- meaning. What is absent is stored as false. All of them are written out, since a verb does this for every host that it
-- touches: a table that is made in one piece takes much less time than one that grows field by field.
local function host_from(list)
  return {
    seq = list[1] or nil, tier = list[2] or nil, pages = list[3] or nil, cash = list[4] or nil,
    credit = list[5] or nil, depth = list[6] or nil, change_pages = list[7] or nil, change_rate = list[8] or nil,
    revisit_rate = list[9] or nil, answered = list[10] or nil, blocked_until = list[11] or nil,
    blocked_reason = list[12] or nil, strikes = list[13] or nil, streak = list[14] or nil,
    streak_since = list[15] or nil, blocked_at = list[16] or nil, latency = list[17] or nil,
    address = list[18] or nil, closest = list[19] or nil, policy_delay = list[20] or nil,
    policy_concurrency = list[21] or nil, leases = list[22] or nil, granted = list[23] or nil,
    leased_new = list[24] or nil, place = list[25] or nil, due = list[26] or nil, order = list[27] or nil,
    held = list[28] or nil, aside = list[29] or nil, lanes = list[30] or nil, errands = list[31] or nil,
    traps = list[32] or nil, domain = list[33] or nil,
  }
end
local function host_packed(host, lanes)
  return {
    host.seq or false, host.tier or false, host.pages or false, host.cash or false, host.credit or false,
    host.depth or false, host.change_pages or false, host.change_rate or false, host.revisit_rate or false,
    host.answered or false, host.blocked_until or false, host.blocked_reason or false, host.strikes or false,
    host.streak or false, host.streak_since or false, host.blocked_at or false, host.latency or false,
    host.address or false, host.closest or false, host.policy_delay or false, host.policy_concurrency or false,
    host.leases or false, host.granted or false, host.leased_new or false, host.place or false, host.due or false,
    host.order or false, host.held or false, host.aside or false, lanes, host.errands or false, host.traps or false,
    host.domain or false,
  }
end
local function lane_from(list)
  return {
    origin = list[1] or nil, queued = list[2] or nil, lists = list[3] or nil, robots = list[4] or nil,
    expires = list[5] or nil, crawl_delay = list[6] or nil, version = list[7] or nil, not_before = list[8] or nil,
    attempts = list[9] or nil, moved = list[10] or nil, robots_leased = list[11] or nil,
    robots_unused = list[12] or nil,
  }
end
local function lane_packed(lane)
  return {
    lane.origin or false, lane.queued or false, lane.lists or false, lane.robots or false, lane.expires or false,
    lane.crawl_delay or false, lane.version or false, lane.not_before or false, lane.attempts or false,
    lane.moved or false, lane.robots_leased or false, lane.robots_unused or false,
  }
end

local hosts = {}
local touched = {}

-- Marks a host to be written, with its due time, at the end of the verb.
local function touch(host)
  touched[host.key] = host
end

local function read_host(key)
  local known = hosts[key]
  if known ~= nil then return known or nil end
  local stored = redis.call('HGET', HOSTS, key)
  if not stored then
    hosts[key] = false
    return nil
  end
  local host = host_from(cmsgpack.unpack(stored))
  host.key = key
  for index, lane in ipairs(host.lanes) do host.lanes[index] = lane_from(lane) end
  hosts[key] = host
  return host
end

-- When a host was found, and no other before it at the same time. `ordinal` is its position among what was found together,
-- so that the first of them goes first wherever they are kept.
local function next_seq(ordinal)
  local last = tonumber(redis.call('HGET', META, 'last_seq') or '0')
  local seq = math.max(NOW + math.min(ordinal or 0, 999) / 1000, last + 0.001)
  redis.call('HSET', META, 'last_seq', string.format('%.17g', seq))
  return seq
end

-- A host that is made here has its unit of importance and its share of the pot (importance.ts).
local function settle_in(key, origin, ordinal)
  local host = read_host(key)
  if host == nil then
    local share = sum('pot') / math.max(1, sum('hosts'))
    add_to('pot', -share)
    add_to('importance', 1)
    add_to('hosts', 1)
    host = {
      key = key, seq = next_seq(ordinal), tier = 'medium', pages = 0, cash = 1 + share, credit = 0, depth = UNKNOWN_DEPTH,
      change_pages = 0, change_rate = 0, revisit_rate = 0, blocked_until = 0, strikes = 0, streak = 0, streak_since = 0,
      blocked_at = 0, latency = 0, policy_delay = 0, policy_concurrency = 1, leases = 0, leased_new = 0, place = 0,
      held = 0, aside = 0, lanes = {}, errands = {},
    }
    hosts[key] = host
    touch(host)
  end
  for _, lane in ipairs(host.lanes) do
    if lane.origin == origin then return host, lane end
  end
  local lane = {
    origin = origin, queued = { 0, 0, 0, 0 }, lists = { {}, {}, {}, {} }, crawl_delay = 0, not_before = 0, attempts = 0,
  }
  host.lanes[#host.lanes + 1] = lane
  return host, lane
end

-- The policy by configuration, as the caller has it; written with whatever else is changed.
local function apply_policy(host, policy)
  if policy == nil then return end
  host.policy_delay = policy[1]
  host.policy_concurrency = policy[2]
  host.domain = policy[3] or host.domain
end

-- --- pace -----------------------------------------------------------------------------------------------------------

local function delay_of(host)
  local delay = host.policy_delay
  for _, lane in ipairs(host.lanes) do delay = math.max(delay, lane.crawl_delay) end
  if host.policy_delay == 0 then return delay end
  return math.max(delay, math.min(OPTIONS.latencyFactor * host.latency, OPTIONS.latencyMaxDelayMs))
end

local function paced_from(host)
  local delay = delay_of(host)
  local start = host.blocked_until
  if host.answered then start = math.max(start, host.answered + delay) end
  if host.granted then start = math.max(start, host.granted + delay) end
  if QUIET > 0 then start = math.max(start, QUIET + delay) end
  return start
end

local function is_in_force(host, lane)
  if not lane.robots then return false end
  if NOW < lane.expires then return true end
  return lane.robots_unused and math.max(paced_from(host), host.place) >= lane.expires
end

local function slot_tier(host, index)
  return index == 4 and host.tier or SLOTS[index]
end

-- Tiers of what a lane has that is not leased, as bits. (A leased row is not in its queue.)
local function tiers_of(host, lane)
  local tiers = 0
  for index = 1, 4 do
    if lane.queued[index] > 0 then
      local tier_bit = TIER_BIT[slot_tier(host, index)]
      if bit.band(tiers, tier_bit) == 0 then tiers = tiers + tier_bit end
    end
  end
  return tiers
end

local function is_spent(host)
  return OPTIONS.maxPagesPerHost ~= nil and host.pages + host.leased_new >= OPTIONS.maxPagesPerHost
end

local function most_leases(host)
  if OPTIONS.domainDelayMs > 0 or OPTIONS.addressDelayMs > 0 then return 1 end
  return host.policy_concurrency
end

-- When the host has something to lease, pace aside, and of which tiers; nil for never.
local function work_at(host)
  for _, errand in ipairs(host.errands) do
    if not errand.leased then return 0, TIER_BIT[host.tier] end
  end
  -- What is under way may use up what it may have: that is known when it is settled.
  if host.leased_new > 0 and is_spent(host) then return nil end
  local soonest, soonest_tiers = nil, 0
  for _, lane in ipairs(host.lanes) do
    local tiers = tiers_of(host, lane)
    if tiers ~= 0 then
      local open = is_in_force(host, lane)
      if open or not (lane.moved or lane.robots_leased) then
        local at = open and 0 or lane.not_before
        if soonest == nil or at < soonest then
          soonest, soonest_tiers = at, tiers
        elseif at == soonest then
          soonest_tiers = bit.bor(soonest_tiers, tiers)
        end
      end
    end
  end
  return soonest, soonest_tiers
end

-- As its leases stand; nil when nothing of it could be leased.
local function due_of(host)
  if host.leases >= most_leases(host) then return nil, 0 end
  local at, tiers = work_at(host)
  if at == nil then return nil, 0 end
  return math.max(at, paced_from(host), host.place), tiers
end

-- --- importance and tier (importance.ts, score.ts) ------------------------------------------------------------------

local DAY_MS = 86400000
local IMPORTANCE_SUMS = { 'importance', 'pot', 'hosts' }
local function host_importance(host)
  read_together(IMPORTANCE_SUMS)
  local average = (sum('importance') - sum('pot')) / math.max(1, sum('hosts'))
  if average <= 0 then return 0.5 end
  local relative = (host.cash + host.credit) / average
  return relative / (1 + relative)
end
local function grade(host)
  local weights = OPTIONS.weights
  local all = weights.importance + weights.change + weights.depth
  local score = 0.5
  if all > 0 then
    local change = 0.5
    if host.change_pages > 0 then
      local daily = host.change_rate * DAY_MS
      change = daily / (1 + daily)
    end
    score = (weights.importance * host_importance(host) + weights.change * change + weights.depth / (1 + host.depth)) / all
  end
  local tier = score >= OPTIONS.tierHigh and 'high' or (score < OPTIONS.tierLow and 'low' or 'medium')
  if tier == host.tier then return end
  local moved = 0
  for _, lane in ipairs(host.lanes) do moved = moved + lane.queued[4] end
  add_to('queued_' .. host.tier, -moved)
  add_to('queued_' .. tier, moved)
  host.tier = tier
end

-- --- queues ---------------------------------------------------------------------------------------------------------

local SLOT_INDEX = { high = 1, medium = 2, low = 3, auto = 4 }

-- So many more copies in the list of a rank; answers how many it has.
local function count_listed(lists, rank, by)
  local name = tostring(rank)
  local count = (lists[name] or 0) + by
  if lists[name] == nil then
    local others = 0
    for _ in pairs(lists) do others = others + 1 end
    if others >= MOST_LISTS / 2 then redis.call('HSET', META, 'crowded', '1') end
  end
  lists[name] = count
  return count
end

-- Puts rows, as they stand in lists (row.lua), at the end of a list or at its front. `list` is the declared key of `rank`.
local function enqueue_stored(host, lane, slot, rank, list, rows, at_front)
  local index, length = SLOT_INDEX[slot], 0
  for first = 1, #rows, 1000 do
    length = redis.call(at_front and 'LPUSH' or 'RPUSH', list, unpack(rows, first, math.min(first + 999, #rows)))
  end
  if length ~= count_listed(lane.lists[index], rank, #rows) then lost('the queue of ' .. lane.origin) end
  lane.queued[index] = lane.queued[index] + #rows
  add_to('queued_' .. slot_tier(host, index), #rows)
  touch(host)
end
local function enqueue(host, lane, slot, rank, list, row, at_front)
  enqueue_stored(host, lane, slot, rank, list, { stow_row(row) }, at_front)
end

-- One copy less in a list. `counts` is false for a copy that stands elsewhere.
local function taken_from(host, lane, index, rank, counts)
  local lists, name = lane.lists[index], tostring(rank)
  local left = (lists[name] or 0) - 1
  lists[name] = left > 0 and left or nil
  if counts then
    lane.queued[index] = lane.queued[index] - 1
    add_to('queued_' .. slot_tier(host, index), -1)
  end
  touch(host)
end

-- --- where a row counts ----------------------------------------------------------------------------------------------

-- moved[fingerprint] = <place>;<ghosts>. The place is slot|rank, `out` for a row that stands in no queue although its
-- URL is open (leased, waiting, held, aside), `x` for one whose URL is final. No entry: it stands in one list, or the
-- URL is final and no copy is left. Only these functions touch `moved`; each entry is read once in a verb, and written once,
-- by `save_hosts`.
local places, ghosts_of, changed_places = {}, {}, {}
local function place_of(fp)
  if places[fp] == nil then
    local entry = redis.call('HGET', MOVED, fp)
    local place, ghosts = string.match(entry or '', '^(.*);(%d+)$')
    places[fp], ghosts_of[fp] = place or false, tonumber(ghosts or '0')
  end
  return places[fp] or nil, ghosts_of[fp]
end
local function set_place(fp, place, ghosts)
  places[fp], ghosts_of[fp] = place or false, place and ghosts or 0
  changed_places[fp] = true
end
local function save_places()
  local kept, gone = {}, {}
  for fp in pairs(changed_places) do
    if places[fp] then
      kept[#kept + 1] = fp
      kept[#kept + 1] = places[fp] .. ';' .. ghosts_of[fp]
    else
      gone[#gone + 1] = fp
    end
  end
  add_to('moved', call_with_all('HSET', MOVED, kept) - call_with_all('HDEL', MOVED, gone))
  changed_places = {}
end
local function place_in(slot, rank)
  return slot .. '|' .. string.format('%.0f', rank)
end
local function is_out(fp)
  return place_of(fp) == 'out'
end
local function mark_out(fp)
  local _, ghosts = place_of(fp)
  set_place(fp, 'out', ghosts)
end
-- The row stands in this list now, and stood in none before.
local function mark_queued(fp, slot, rank)
  local place, ghosts = place_of(fp)
  if place == nil then return end
  if ghosts > 0 then set_place(fp, place_in(slot, rank), ghosts) else set_place(fp, nil) end
end
-- A copy was put into this list, and counts; the one that counted before is a ghost.
local function mark_moved(fp, slot, rank)
  local _, ghosts = place_of(fp)
  set_place(fp, place_in(slot, rank), ghosts + 1)
end
-- The URL is final, and its row stands in no list where it would count.
local function mark_final(fp)
  local place, ghosts = place_of(fp)
  if place == nil then return end
  if ghosts > 0 then set_place(fp, 'x', ghosts) else set_place(fp, nil) end
end
-- The URL is final although its row stands in a list.
local function mark_struck(fp)
  local _, ghosts = place_of(fp)
  set_place(fp, 'x', ghosts + 1)
end
-- Of a copy that was taken from this list. True: it does not count, and is to be dropped.
local function is_ghost(fp, slot, rank)
  local place, ghosts = place_of(fp)
  if place == nil or place == place_in(slot, rank) then return false end
  if ghosts > 1 or place == 'out' then
    set_place(fp, place, math.max(0, ghosts - 1))
  else
    -- The last ghost is gone: the row stands once, where it counts, or its URL is final.
    set_place(fp, nil)
  end
  return true
end

-- --- the end of a verb ----------------------------------------------------------------------------------------------

-- What is to be written to the orders of hosts: by order, hosts that leave it, and scores and hosts that it has.
local leaving, coming = {}, {}
local function order_host(host, due, order)
  local was = host.order
  add_to('ordered', (due and 1 or 0) - (was and 1 or 0))
  if was and was ~= order then
    local gone = leaving[was] or {}
    leaving[was] = gone
    gone[#gone + 1] = host.key
  end
  if due and not (was == order and host.due == due) then
    local members = coming[order] or {}
    coming[order] = members
    -- Hosts that were never asked are due since ever: the one found first goes first.
    members[#members + 1] = string.format('%.17g', due == 0 and host.seq / 1e13 or due)
    members[#members + 1] = host.key
  end
  host.due, host.order = due, order
end
local function save_orders()
  for order, gone in pairs(leaving) do call_with_all('ZREM', KEYS[FIRST_ORDER + order], gone) end
  for order, members in pairs(coming) do
    call_with_all('ZADD', KEYS[FIRST_ORDER + order], members)
    if not is_order_used(order) then
      USED_ORDERS = bit.bor(USED_ORDERS, bit.lshift(1, order))
      redis.call('HSET', META, 'orders', USED_ORDERS)
    end
  end
  leaving, coming = {}, {}
end

-- Writes every host that was touched, puts it where its due time belongs, the places of rows, and the sums.
local function save_hosts()
  local written = {}
  for key, host in pairs(touched) do
    grade(host)
    local due, tiers = due_of(host)
    order_host(host, due, due and (host.streak > 0 and 8 or 0) + tiers)
    local lanes = {}
    for index, lane in ipairs(host.lanes) do lanes[index] = lane_packed(lane) end
    written[#written + 1] = key
    written[#written + 1] = cmsgpack.pack(host_packed(host, lanes))
  end
  call_with_all('HSET', HOSTS, written)
  touched = {}
  save_orders()
  save_places()
  save_sums()
end
