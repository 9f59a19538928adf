-- Pace by more than the host, as groups.ts has it: hosts of one registrable domain, or at one address, have one lease open
-- at most, and the group's delay counts from the last answer of any member. A host that finds its group busy is given a
-- place, which becomes its due time. With groups a crawl has one partition, so that all members are at hand.
--
-- Of each group that is leased, or whose delay or line has not passed, `groups` has a packed record, by its name; the
-- delay follows from the name.

-- In the order in which they are stored; what is absent is stored as false.
local GROUP_FIELDS = { 'leased_until', 'free', 'tail', 'turn', 'leased_at', 'next' }
local function group_packed(group)
  local packed = {}
  for index, field in ipairs(GROUP_FIELDS) do packed[index] = group[field] or false end
  return cmsgpack.pack(packed)
end
local function group_from(stored)
  local packed, group = cmsgpack.unpack(stored), {}
  for index, field in ipairs(GROUP_FIELDS) do group[field] = packed[index] or nil end
  return group
end

-- Weight of the last turn in the smoothed one, and how much closer places are given than turns take (groups.ts).
local TURN_SMOOTHING = 0.2
local TURN_SHARE = 0.9
-- Records that are looked at in one lease, to drop those that need no remembering.
local GROUPS_SWEPT = 32

local function are_hosts_grouped()
  return OPTIONS.domainDelayMs > 0 or OPTIONS.addressDelayMs > 0
end

-- The names of a host's groups; a host without address is in no group of addresses.
local function groups_of(host)
  local names = {}
  if OPTIONS.domainDelayMs > 0 then names[#names + 1] = 'domain ' .. (host.domain or host.key) end
  if OPTIONS.addressDelayMs > 0 and host.address then names[#names + 1] = 'address ' .. host.address end
  return names
end

local function group_delay(name)
  return string.sub(name, 1, 7) == 'domain ' and OPTIONS.domainDelayMs or OPTIONS.addressDelayMs
end

-- The longest delay of these groups; 0 without any.
local function groups_delay(names)
  local delay = 0
  for _, name in ipairs(names) do delay = math.max(delay, group_delay(name)) end
  return delay
end

local function is_group_over(group)
  return not group.leased_until and math.max(group.free, group.tail) <= NOW
end

local function read_group(name)
  local stored = redis.call('HGET', GROUPS, name)
  local group = stored and group_from(stored)
  if not group or is_group_over(group) then group = { free = 0, tail = 0, turn = 0, leased_at = 0 } end
  -- A server that has just taken over may not know the last answers.
  if QUIET > 0 then group.free = math.max(group.free, QUIET + group_delay(name)) end
  group.name = name
  return group
end

local function save_group(group)
  redis.call('HSET', GROUPS, group.name, group_packed(group))
end

-- The place of a host in the line of one group that is busy. Whoever has waited for a place that has come, or finds
-- nobody waiting, is the next; others go behind all who wait.
local function line_place(group, host)
  local delay = group_delay(group.name)
  local free = group.free
  if group.leased_until then free = math.max(group.leased_until, NOW) + delay end
  local is_next = not group.next and (host.place > 0 or group.tail <= NOW)
  if is_next then group.next = host.key end
  if not is_next or group.tail <= NOW then
    group.tail = math.ceil(math.max(group.tail, NOW) + delay + TURN_SHARE * group.turn)
  end
  save_group(group)
  return is_next and free or group.tail
end

-- The place of a host whose turn has come but whose groups are not all free; nil when it may be leased now.
local function place_among(host, names)
  local place = nil
  for _, name in ipairs(names) do
    local group = read_group(name)
    local was_next = group.next == host.key
    if was_next then group.next = nil end
    if group.leased_until or group.free > NOW then
      place = math.max(place or 0, line_place(group, host))
    elseif was_next then
      save_group(group)
    end
  end
  return place
end

-- The groups have a lease from now on.
local function take_groups(names, expires)
  for _, name in ipairs(names) do
    local group = read_group(name)
    group.leased_until = expires
    group.leased_at = NOW
    group.tail = math.max(group.tail, NOW)
    save_group(group)
  end
end

-- The lease of these groups ends later than it was to.
local function extend_groups(names, expires)
  for _, name in ipairs(names) do
    local group = read_group(name)
    if group.leased_until then
      group.leased_until = expires
      save_group(group)
    end
  end
end

-- The lease is over, with an answer at that time if anything was sent. Who is next need not wait any longer.
local function release_groups(names, answered)
  for _, name in ipairs(names) do
    local group = read_group(name)
    group.leased_until = nil
    if answered then
      group.free = math.max(group.free, answered + group_delay(name))
      local turn = math.max(answered - group.leased_at, 0)
      group.turn = group.turn == 0 and turn or group.turn + TURN_SMOOTHING * (turn - group.turn)
    end
    local waiting = group.next and read_host(group.next)
    if waiting then
      waiting.place = group.free
      touch(waiting)
    end
    save_group(group)
  end
end

-- Drops a few of the groups that need no remembering; called now and then, it comes round to all of them.
local function forget_groups()
  if not are_hosts_grouped() then return end
  local cursor = redis.call('HGET', META, 'groups_cursor') or '0'
  local found = redis.call('HSCAN', GROUPS, cursor, 'COUNT', GROUPS_SWEPT)
  for index = 1, #found[2], 2 do
    if is_group_over(group_from(found[2][index + 1])) then
      redis.call('HDEL', GROUPS, found[2][index])
    end
  end
  if found[1] ~= cursor then redis.call('HSET', META, 'groups_cursor', found[1]) end
end
