-- How URLs come in: insert-if-absent, the minimum depth over all paths, and the queue that a URL belongs to.
--
-- Known URLs are fingerprints in buckets by their low bits: `k` is a packed set of those that are final, `o` a packed
-- hash of those that are open, with what their place in a queue was made from in one small number. A partition has
-- 2^level buckets of each. When they get full the level rises by one, and every bucket is split in two (split.lua);
-- until that is done, what is not in its bucket may be in the one it comes from, its parent. Every `k` has a seal in it, a
-- member that is no fingerprint, from its making on: one that is not there was lost, and what it had would seem new.
-- (Where the level was set for a crawl that was moved here, that holds only after the next split: `sealed` in meta.)
--
-- A call that touches known URLs says which level it counts on and has these tables, made by intake.ts; rows of tables
-- are referred to by number from 1, keys by their number in KEYS:
--   ASKED.level, ASKED.splitting
--   ASKED.buckets  { k, o } or, while buckets are split, { k, o, parent's k, parent's o }
--   ASKED.lanes    { host, origin, policy, key of what is held of the host or 0, place among all that were found }
--   ASKED.places   { number of the lane, slot, rank, key of the list }
--
-- A URL that is queued and turns out to deserve a better place gets a copy there; the old row is a ghost from then on
-- (host.lua). The new rank is for the caller to work out, so that goes as a message from the partition to itself.

local SEAL = '0'
local BUCKET_SIZE = 128
local MOST_LEVEL = 22
local MOST_IN_ENTRY = 250
local HOUR_MS = 3600000

-- What is kept of an open URL: 9 bits of depth, 7 of referrers, 2 for its slot, 13 of the hour when it was found.
local MOST_DEPTH = 511
local MOST_REFERRERS = 126
local VISITED = 127
local SLOT_NUMBER = { high = 0, medium = 1, low = 2, auto = 3 }
local function pack_open(depth, referrers, slot, hour)
  return math.min(depth, MOST_DEPTH) + 512 * (referrers + 128 * (SLOT_NUMBER[slot] + 4 * (hour % 8192)))
end
local function unpack_open(value)
  local depth = value % 512
  local rest = (value - depth) / 512
  local referrers = rest % 128
  rest = (rest - referrers) / 128
  local slot = rest % 4
  local now = math.floor(NOW / HOUR_MS)
  return depth, referrers, SLOTS[slot + 1], now - (now - (rest - slot) / 4) % 8192
end

-- --- the outbox -----------------------------------------------------------------------------------------------------

local outgoing = {}

-- A message to another partition, or to this one. It is on its way with whatever else this verb does, or not at all.
local function send(to, message)
  local batches = outgoing[to] or { { weight = 0, messages = {} } }
  outgoing[to] = batches
  local weight = #(message.urls or message.children or {}) + 1
  local batch = batches[#batches]
  if batch.weight > 0 and batch.weight + weight > MOST_IN_ENTRY then
    batch = { weight = 0, messages = {} }
    batches[#batches + 1] = batch
  end
  batch.weight = batch.weight + weight
  batch.messages[#batch.messages + 1] = message
end

local function read_entry(stored)
  local fields, found = stored[2], {}
  for index = 1, #fields, 2 do found[fields[index]] = fields[index + 1] end
  return { stored[1], tonumber(found.to), found.epoch, tonumber(found.number), found.body }
end

-- What this very call sent before, when its reply was lost and it is made again.
local function sent_before()
  if not ASKED.call then return nil end
  local found
  local fields = redis.call('HGETALL', UNDELIVERED)
  for index = 1, #fields, 2 do
    if fields[index + 1] == ASKED.call then
      found = found or {}
      found[#found + 1] = read_entry(redis.call('XRANGE', OUTBOX, fields[index], fields[index])[1])
    end
  end
  return found
end

-- Writes what was sent, once in a verb and before its sums are saved, and answers it for whoever delivers it: a list of { id, to, epoch, number, body
-- }, nil when there is none. Numbers count up from 1 for each pair of partitions and each epoch; an epoch ends when the
-- server changes, since the last numbers may be forgotten then and must not be given to something else. A caller that
-- does not remember its replies names each call by ASKED.call.
local function sent_reply()
  if next(outgoing) == nil then return sent_before() end
  local epoch = redis.call('HGET', META, 'restarts') or '0'
  local ms = math.max(NOW, tonumber(redis.call('HGET', META, 'outbox_ms') or '0'))
  redis.call('HSET', META, 'outbox_ms', string.format('%.0f', ms))
  local sent, undelivered = {}, {}
  for to, batches in pairs(outgoing) do
    for _, batch in ipairs(batches) do
      local counter = 'sent:' .. epoch .. ':' .. to
      add_to(counter, 1)
      add_to('outbox_seq', 1)
      local number = sum(counter)
      local id = string.format('%.0f-%.0f', ms, sum('outbox_seq'))
      local body = cjson.encode(batch.messages)
      redis.call('XADD', OUTBOX, id, 'to', to, 'epoch', epoch, 'number', number, 'body', body)
      undelivered[#undelivered + 1] = id
      undelivered[#undelivered + 1] = ASKED.call or ''
      sent[#sent + 1] = { id, to, epoch, number, body }
    end
  end
  call_with_all('HSET', UNDELIVERED, undelivered)
  outgoing = {}
  return sent
end

-- --- known URLs -----------------------------------------------------------------------------------------------------

local level, split_at, is_sealed

-- Nil when the tables of the call fit the state; otherwise what to answer at once, before anything is written:
-- {"level":…,"splitting":…}, or {"full":[[origin, slot, [rank…]]…]} for parts of lanes that have as many lists as they
-- may have and none of the rank that was wanted.
local function not_ready()
  local known = redis.call('HMGET', META, 'level', 'split', 'sealed', 'crowded')
  level, split_at, is_sealed = tonumber(known[1] or '0'), tonumber(known[2] or nil), known[3] == '1'
  if ASKED.level ~= level or (split_at and not ASKED.splitting) then
    return cjson.encode({ level = level, splitting = split_at ~= nil })
  end
  if known[4] == '0' then return nil end
  local full = {}
  for _, place in ipairs(ASKED.places or {}) do
    local lane = ASKED.lanes[place[1]]
    local host = place[3] > 1 and read_host(lane[1]) or nil
    for _, candidate in ipairs(host and host.lanes or {}) do
      local lists = candidate.lists[SLOT_INDEX[place[2]]]
      if candidate.origin == lane[2] and not lists[tostring(place[3])] then
        local ranks = {}
        for rank in pairs(lists) do ranks[#ranks + 1] = tonumber(rank) end
        if #ranks >= MOST_LISTS then full[#full + 1] = { lane[2], place[2], ranks } end
      end
    end
  end
  return #full > 0 and cjson.encode({ full = full }) or nil
end

-- The number of an open URL, and the key that has it; nil when it is not open.
local function open_value(name, bucket)
  local keys = ASKED.buckets[bucket]
  local value = redis.call('HGET', KEYS[keys[2]], name)
  if value then return tonumber(value), KEYS[keys[2]] end
  value = keys[4] and redis.call('HGET', KEYS[keys[4]], name)
  if value then return tonumber(value), KEYS[keys[4]] end
  return nil
end
local function is_open(name, bucket)
  return open_value(name, bucket) ~= nil
end
-- Each pair of sets is looked at once in a verb.
local checked_seals = {}
local function check_seal(keys)
  if not is_sealed or checked_seals[keys] then return end
  checked_seals[keys] = true
  if redis.call('SISMEMBER', KEYS[keys[1]], SEAL) == 1 then return end
  if not keys[3] or redis.call('SISMEMBER', KEYS[keys[3]], SEAL) == 0 then lost('a set of known URLs') end
end
local function is_final(name, bucket)
  local keys = ASKED.buckets[bucket]
  if redis.call('SISMEMBER', KEYS[keys[1]], name) == 1 then return true end
  if keys[3] and redis.call('SISMEMBER', KEYS[keys[3]], name) == 1 then return true end
  check_seal(keys)
  return false
end
-- True when it was neither open nor, which the caller has made sure of, final: it is open now.
local function open_url(name, bucket, depth, referrers, slot)
  local keys = ASKED.buckets[bucket]
  if keys[4] and redis.call('HEXISTS', KEYS[keys[4]], name) == 1 then return false end
  local value = pack_open(depth, math.min(MOST_REFERRERS, referrers), slot, math.floor(NOW / HOUR_MS))
  return redis.call('HSETNX', KEYS[keys[2]], name, value) == 1
end
-- An open URL becomes final. Answers the smallest depth that is known of it; nil when it was not open.
local function close_url(name, bucket)
  local value, key = open_value(name, bucket)
  if value == nil then return nil end
  check_seal(ASKED.buckets[bucket])
  redis.call('HDEL', key, name)
  redis.call('SADD', KEYS[ASKED.buckets[bucket][1]], name)
  return (unpack_open(value))
end
-- A final URL is open again, for another visit.
local function reopen_url(name, bucket, depth, slot)
  local keys = ASKED.buckets[bucket]
  redis.call('SREM', KEYS[keys[1]], name)
  if keys[3] then redis.call('SREM', KEYS[keys[3]], name) end
  redis.call('HSET', KEYS[keys[2]], name, pack_open(depth, VISITED, slot, math.floor(NOW / HOUR_MS)))
end
-- A URL becomes final, whatever is known of it. True when it was not known at all.
local function take_final(name, bucket)
  if close_url(name, bucket) or is_final(name, bucket) then return false end
  redis.call('SADD', KEYS[ASKED.buckets[bucket][1]], name)
  add_to('known', 1)
  return true
end

-- --- depth ----------------------------------------------------------------------------------------------------------

local function is_too_deep(rank, depth)
  return OPTIONS.maxDepth ~= nil and rank ~= 0 and depth > OPTIONS.maxDepth
end

-- What is kept of a page that was fetched, where depth is limited: its depth, its URL, and what it names, each as
-- `partition LF kind and step LF address` (intake.ts). All of that is told when the page turns out to be less deep.
local function tell_children(parent)
  local byPartition = {}
  for _, child in ipairs(parent[3]) do
    local to = tonumber(string.match(child, '^%d+'))
    local children = byPartition[to] or {}
    byPartition[to] = children
    children[#children + 1] = child
  end
  for to, children in pairs(byPartition) do
    send(to, { kind = 'shorter', url = parent[2], depth = parent[1], children = children })
  end
end
local function relax(name, depth)
  if OPTIONS.maxDepth == nil then return end
  local stored = redis.call('HGET', DEPTHS, name)
  local parent = stored and cmsgpack.unpack(stored)
  if not parent or depth >= parent[1] then return end
  parent[1] = depth
  redis.call('HSET', DEPTHS, name, cmsgpack.pack(parent))
  tell_children(parent)
end

-- --- taking in ------------------------------------------------------------------------------------------------------

local function lane_at(number)
  local lane = ASKED.lanes[number]
  local host, queue = settle_in(lane[1], lane[2], lane[5])
  apply_policy(host, lane[3])
  return host, queue, lane[4]
end

-- Counts of referrers at which a URL is given a new place: 4, 16, 64 (score.ts).
local function reaches_milestone(from, to)
  return (from < 4 and to >= 4) or (from < 16 and to >= 16) or (from < 64 and to >= 64)
end

-- Rows that are new, by the number of their place, and the smallest depth among them.
local new_rows, new_depths = {}, {}

local function insert(name, number, place, depth, stored)
  if place[3] ~= 0 and depth < (new_depths[number] or UNKNOWN_DEPTH) then new_depths[number] = depth end
  if is_too_deep(place[3], depth) then
    local host, lane, held = lane_at(place[1])
    park('held', host, name, unstow_row(stored, lane.origin, place[2], place[3]), KEYS[held])
  else
    local rows = new_rows[number]
    if rows then rows[#rows + 1] = stored else new_rows[number] = { stored } end
  end
end

-- Puts them into their queues, a list at a time.
local function queue_new()
  for number, place in ipairs(ASKED.places or {}) do
    local rows, depth = new_rows[number], new_depths[number]
    if rows or depth then
      local host, lane = lane_at(place[1])
      if depth and depth < host.depth then host.depth = depth end
      if rows then enqueue_stored(host, lane, place[2], place[3], KEYS[place[4]], rows) end
      touch(host)
    end
  end
  new_rows, new_depths = {}, {}
end

-- Asks for the place that an open URL of this depth with so many referrers deserves.
local function ask_for_place(place, stored, slot, depth, referrers, hour)
  local row = row_with(unstow_row(stored, ASKED.lanes[place[1]][2], slot, place[3]), { depth = depth })
  send(OPTIONS.partition, { kind = 'better', row = row, referrers = referrers, hour = hour })
end

-- One more sighting of an open URL. What changes its place is a message to ourselves, and takes effect with that.
local function sight(name, value, key, depth, place, stored, times)
  local known_depth, referrers, slot, hour = unpack_open(value)
  local rank = place[3]
  local visited = referrers == VISITED
  local counted = visited and referrers or math.min(MOST_REFERRERS, referrers + times)
  local shorter = depth < known_depth
  local frees = shorter and is_too_deep(rank, known_depth) and not is_too_deep(rank, depth)
  local least = math.min(depth, known_depth)
  local improves = rank ~= 0 and not visited and (shorter or reaches_milestone(referrers, counted))
  if frees or (improves and not is_out(name)) then
    ask_for_place(place, stored, slot, least, counted, hour)
    least = known_depth
  end
  local now = pack_open(least, counted, slot, hour)
  if now ~= value then redis.call('HSET', key, name, now) end
  if shorter then relax(name, depth) end
end

-- Takes URLs in: a list of { name, bucket, place, depth, row as it stands in a list, times, modified }. `times`: how
-- many pages name it that were not told of before; `modified`: when a sitemap says that it was changed, absent or 0 for
-- not at all. With `source`, as what the answer to a task names: name, kind, depth (of the task), known (its depth as
-- known by now, if that is less), url, children (see above), and elsewhere: a list of { partition, message } for other
-- partitions. Answers how many were new.
local function take_in(items, source)
  local added, sitemaps = 0, 0
  -- The source may have been found on a shorter path while it was being fetched: what it names moves up with it.
  local lift = source and source.known and math.max(0, source.depth - source.known) or 0
  for _, item in ipairs(items) do
    local name, bucket, number, depth, stored = item[1], item[2], item[3], item[4], item[5]
    local place, times, modified = ASKED.places[number], item[6] or 0, item[7] or 0
    if lift > 0 then
      depth = math.max(0, depth - lift)
      local row = unstow_row(stored, ASKED.lanes[place[1]][2], place[2], place[3])
      stored = stow_row(row_with(row, { depth = depth }))
    end
    if is_final(name, bucket) then
      relax(name, depth)
      if modified > 0 and OPTIONS.recrawl.mode ~= 'off' then
        local host = lane_at(place[1])
        heed_modified(name, modified, slot_tier(host, SLOT_INDEX[place[2]]))
      end
    elseif open_url(name, bucket, depth, math.max(1, times), place[2]) then
      insert(name, number, place, depth, stored)
      added = added + 1
      if place[3] == 0 then sitemaps = sitemaps + 1 end
    else
      local value, key = open_value(name, bucket)
      sight(name, value, key, depth, place, stored, times)
    end
  end
  queue_new()
  add_to('known', added)
  add_to('sitemaps_open', sitemaps)
  add_to('discovered', added - sitemaps)
  add_to('open', added - sitemaps)
  for _, other in ipairs(source and source.elsewhere or {}) do
    local message = other[2]
    for _, url in ipairs(lift > 0 and message.urls or {}) do
      url[1] = row_with(url[1], { depth = math.max(0, row_fields(url[1]).depth - lift) })
    end
    send(other[1], message)
  end
  if source and OPTIONS.maxDepth and source.kind == 'p' and source.children and #source.children > 0 then
    redis.call('HSET', DEPTHS, source.name,
      cmsgpack.pack({ math.min(source.depth, source.known or source.depth), source.url, source.children }))
  end
  if added > 0 and not split_at and level < MOST_LEVEL and sum('known') > BUCKET_SIZE * 2 ^ level then
    -- What this call declared are parents from now on; they are split from the first.
    level, split_at = level + 1, 0
    redis.call('HSET', META, 'level', level, 'split', 0)
  end
  return added
end

-- For replies: whether it would be well to split buckets now.
local function is_splitting()
  return split_at ~= nil or nil
end

-- A better place for an open URL, as the message asked for and the caller worked out: an item as above, with the number
-- of referrers in place of times. Messages may come late, and after others that were sent later. Where more is known of the
-- URL by now than the message knew, its place is out of date, and is asked for anew.
local function take_better(item)
  local name, place, depth = item[1], ASKED.places[item[3]], item[4]
  local value, key = open_value(name, item[2])
  if value == nil then return end
  local known_depth, referrers, known_slot, hour = unpack_open(value)
  local slot, rank = place[2], place[3]
  -- A row never changes its part of the queue.
  if slot ~= known_slot then return end
  local least = math.min(depth, known_depth)
  local visited = referrers == VISITED
  if least < depth or (not visited and reaches_milestone(item[6], referrers)) then
    return ask_for_place(place, item[5], slot, least, math.max(referrers, item[6]), hour)
  end
  local host, lane, held = lane_at(place[1])
  local row = is_too_deep(rank, known_depth) and not is_too_deep(rank, least) and unpark('held', host, name, KEYS[held])
  if row then
    mark_queued(name, slot, rank)
    enqueue(host, lane, slot, rank, KEYS[place[4]], row_with(row, { depth = least, rank = rank }))
    if least < host.depth then host.depth = least end
  elseif not visited and not is_out(name) and place_of(name) ~= place_in(slot, rank) then
    redis.call('RPUSH', KEYS[place[4]], item[5])
    count_listed(lane.lists[SLOT_INDEX[slot]], rank, 1)
    mark_moved(name, slot, rank)
  end
  touch(host)
  local now = pack_open(least, visited and VISITED or math.max(referrers, item[6]), slot, hour)
  if now ~= value then redis.call('HSET', key, name, now) end
end

-- --- limits ---------------------------------------------------------------------------------------------------------

-- Grants are good for one server and one limit.
local function limit_in_force()
  return (redis.call('HGET', META, 'restarts') or '0') .. ':' .. string.format('%.0f', OPTIONS.maxPages or 0)
end

-- Pages that were never had and may still be leased by this partition; nil where nothing limits them. After a change of
-- the server or of the limit there is no room until the pool has been heard (limits.ts).
local function pages_room()
  if OPTIONS.maxPages == nil then return nil end
  local known = redis.call('HMGET', META, 'granted', 'returned', 'granted_under')
  if not known[1] or known[3] ~= limit_in_force() then return 0 end
  return tonumber(known[1]) - tonumber(known[2] or '0') - sum('done') - sum('refreshing') - sum('leased_new')
end
