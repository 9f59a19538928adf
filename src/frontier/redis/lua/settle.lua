-- Ends tasks, all of them in one step: outcomes, links, host state, counters, messages to other partitions, the end of the
-- worker's output and records for the stream.
--
-- KEYS   beyond the fixed ones: what intake.lua names, lists of rows that are given back, hashes of parked ones
-- ASKED  worker, call: names this call; asked again by the same name it changes nothing and answers the same
--        strict: nothing is done if one of them that is `sure` has ended by another hand
--        assumed: nothing is done unless all of them are held, on a server that has answered for longer than a lease
--                 lasts, and `traps` was learned from what is known
--        output = { file → length }: the committed end of the worker's output
--        traps = { { host, version that it was learned from, text }, … }
--        items, each: fence, host, name, kind ('p', 's', 'r'), outcome; and as far as it applies
--          sure      the output has its record already: it is settled although its lease may be lost
--          policy, origin, and of a URL row, last, parks = { held, aside }, or of a robots.txt at (the origin that was
--                    asked): with `sure`, what it takes to settle it then
--          bucket    of its URL, for intake.lua
--          age       how long ago the host answered, in ms
--          tier, spare, impolite, bytes, tokens; entry: fields and values for the stream
--          reason    of `skipped`
--          at, counts   of `retry`: when, and whether it was an attempt
--          list      of what may go back to its queue
--          parked    the hash in which it must still be, if it is skipped for having been parked
--          change    of its host (health.lua)
--          robots    for a robots.txt: what robots.lua takes, with `to` if that is for another partition; errand likewise
--          found     items for intake.lua; depth, url and children, elsewhere: what it says of their source
--          pass      how many other hosts it links to, and passes importance on to
--          visited   what came of visiting a page again; plan = { text, due, pages, price, price_before, rates,
--                    change_pages, change_rate, revisit_rate }, where text is absent for a page that is visited no more
-- reply  restarts; results = { 1 settled | 0 stale | 2 ended already, … }; passed = { what each of the other hosts that an
--        item links to gets, … }; hosts = { host → { aside, idle } };
--        traps = { host → version }; sent (intake.lua), or again = true when it was answered before. With `strict` it may be
--        {"ended":true} instead
--
-- A task is settled if its lease has it. One that is `sure` is settled as long as its URL is open, wherever its row is by
-- now: in a queue or in another lease, after a server took over that did not know better. It never ends twice.

local refused = guard(true)
if refused then return refused end
local asking = 'settle:' .. ASKED.worker
local answer = redis.call('HGET', ASKINGS, asking)
if answer then
  local call, reply = string.match(answer, '^(%S+) (.*)$')
  if call == ASKED.call then return reply end
end
local unready = not_ready()
if unready then return unready end
local function is_as_assumed()
  if QUIET > NOW then return false end
  for _, item in ipairs(ASKED.items) do
    local lease = read_lease(item.fence)
    if not (lease and lease.host == item.host and task_at(lease, item.name)) then return false end
  end
  for _, learned in ipairs(ASKED.traps or {}) do
    local host = read_host(learned[1])
    if not host or (host.traps or 0) ~= learned[2] then return false end
  end
  return true
end
if ASKED.assumed and not is_as_assumed() then return '{"ended":true}' end
if ASKED.strict then
  for _, item in ipairs(ASKED.items) do
    local lease = read_lease(item.fence)
    local is_held = lease and lease.host == item.host and task_at(lease, item.name)
    if item.sure and item.kind ~= 'r' and not is_held and is_final(item.name, item.bucket) then return '{"ended":true}' end
  end
end

local DAMPING = 0.85
local given_back = {}

-- --- a URL whose lease is lost --------------------------------------------------------------------------------------

-- Takes the task from whichever lease has it.
local function take_from_leases(name)
  for _, fence in ipairs(redis.call('HKEYS', LEASES)) do
    local lease = read_lease(fence)
    local index = task_at(lease, name)
    if index then
      -- Its holder does not know of that, and may send something under it until it runs out.
      if not lease.parked then answered_under(lease, lease.expires) end
      release_task(lease, index)
      return true
    end
  end
  return false
end

-- The task of an open URL that its lease has no more, with its row struck from wherever it is.
local function recover(item)
  local fields = row_fields(item.row)
  local task = {
    name = item.name, kind = item.kind, row = item.row, slot = fields.slot, rank = fields.rank, tier = item.tier,
    last = item.last, origin = item.origin,
  }
  local host, lane = settle_in(item.host, item.origin)
  local place = place_of(item.name)
  if place == 'out' then
    local is_found = take_from_leases(item.name) or unpark('held', host, item.name, KEYS[item.parks[1]])
      or unpark('aside', host, item.name, KEYS[item.parks[2]])
    -- Otherwise it waits for its next attempt.
    if not is_found then mark_struck(item.name) end
    return task
  end
  local slot = place and string.match(place, '^(%a+)|') or task.slot
  local index = SLOT_INDEX[slot]
  if lane.queued[index] > 0 then
    lane.queued[index] = lane.queued[index] - 1
    add_to('queued_' .. slot_tier(host, index), -1)
  end
  mark_struck(item.name)
  touch(host)
  return task
end

-- --- outcomes -------------------------------------------------------------------------------------------------------

local function count_final(item, host, task)
  if task.kind == 's' then
    add_to('sitemaps_open', -1)
    return
  end
  add_to('open', -1)
  if task.last then
    add_to('refreshing', -1)
    host.pages = host.pages - 1
  end
  if item.visited then add_to('revisits:' .. item.visited, 1) end
  if item.outcome == 'done' then
    host.pages = host.pages + 1
    add_to('done', 1)
    add_to('bytes', item.bytes or 0)
    add_to('tokens', item.tokens or 0)
  elseif item.outcome == 'failed' then
    add_to('failed', 1)
  else
    add_to('skipped:' .. item.reason, 1)
  end
end

-- What the next visit should know, and when it is to be. Others may have planned since the numbers were read: each plan
-- is a step from what it saw, so that none undoes another.
local function keep_plan(item, host, task)
  local plan = item.plan
  if plan == nil then return end
  local prefix = 'recrawl:' .. task.tier
  add_to(prefix .. ':pages', plan.pages)
  if plan.price then
    local stored = tonumber(redis.call('HGET', META, prefix .. ':price') or '0')
    local price = (stored == 0 or plan.price_before == 0) and plan.price or stored * plan.price / plan.price_before
    redis.call('HSET', META, prefix .. ':price', string.format('%.17g', price))
  end
  -- What was learned of all pages together: of two that learn at once, the later one stands.
  if plan.rates then redis.call('HSET', META, prefix .. ':rates', plan.rates) end
  host.change_pages = host.change_pages + plan.change_pages
  host.change_rate = plan.change_rate
  host.revisit_rate = math.max(0, host.revisit_rate + plan.revisit_rate)
  redis.call('ZREM', REVISITS, task.name)
  if plan.text then
    redis.call('HSET', VISITS, task.name, plan.text)
    if plan.due then redis.call('ZADD', REVISITS, string.format('%.0f', plan.due), task.name) end
  else
    redis.call('HDEL', VISITS, task.name)
  end
end

local function settle_robots(item, host, task)
  if item.outcome == 'returned' then return end
  for index = #host.errands, 1, -1 do
    if host.errands[index].origin == task.origin then table.remove(host.errands, index) end
  end
  if item.errand then
    if item.errand.to then send(item.errand.to, item.errand) else errand_in(item.errand) end
  end
  if item.robots.to then send(item.robots.to, item.robots) else robots_in(item.robots) end
end

-- Answers the depth at which the URL was known, if it has ended.
local function settle_url(item, host, task, is_held)
  if item.outcome == 'returned' then
    if item.list then given_back[#given_back + 1] = { host, task, KEYS[item.list] } end
    return nil
  end
  if item.outcome == 'retry' then
    local fields = row_fields(task.row)
    local row = item.counts and row_with(task.row, { attempts = fields.attempts + 1 }) or task.row
    add_to('retries', redis.call('ZADD', WAITING, string.format('%.0f', item.at), row))
    return nil
  end
  local depth = close_url(item.name, item.bucket)
  if is_held and not depth then lost('a URL that is leased') end
  mark_final(item.name)
  count_final(item, host, task)
  keep_plan(item, host, task)
  return depth
end

-- The page's part of its host's importance goes to the other hosts that it links to (importance.ts), by way of the caller.
-- Answers what each of them gets.
local function pass_importance(host, count)
  local pages_left = host.leased_new
  for _, lane in ipairs(host.lanes) do
    for index = 1, 4 do pages_left = pages_left + lane.queued[index] end
  end
  local amount = host.cash / (1 + math.max(0, pages_left))
  local linked = count == 0 and 0 or DAMPING * amount
  host.cash = host.cash - amount
  host.credit = host.credit + amount
  add_to('pot', amount - linked)
  -- What is passed on stays with the giver as credit, and is had once more by those who get it.
  add_to('importance', amount - linked)
  return count == 0 and 0 or linked / count
end

local closest_ms
local function count_spare(host, spare)
  host.closest = math.min(host.closest or spare, spare)
  closest_ms = closest_ms or tonumber(redis.call('HGET', META, 'closest_ms') or nil) or math.huge
  if spare < closest_ms then
    closest_ms = spare
    redis.call('HSET', META, 'closest_ms', string.format('%.17g', spare), 'closest_host', host.key)
  end
end

-- --- one settlement -------------------------------------------------------------------------------------------------

local KINDS = { p = 'page', s = 'sitemap', r = 'robots' }

local function note_answer(item, host, lease)
  if not item.age then return end
  -- No host has answered in the future: a worker whose clock is ahead says so.
  local at = NOW - math.max(0, math.floor(item.age))
  host.answered = math.max(host.answered or 0, at)
  if lease then answered_under(lease, at) end
  add_to('requests:' .. KINDS[item.kind], 1)
  add_to('tier_requests:' .. item.tier, 1)
end

local function take_found(item, known_depth)
  if not item.found then return end
  take_in(item.found, {
    name = item.name, kind = item.kind, url = item.url, depth = item.depth, known = known_depth,
    children = item.children, elsewhere = item.elsewhere,
  })
end

local function settle_one(item, host, task, is_held)
  if item.spare then count_spare(host, item.spare) end
  if item.impolite then add_to('impolite', 1) end
  local known_depth = nil
  if task.kind == 'r' then
    settle_robots(item, host, task)
  else
    known_depth = settle_url(item, host, task, is_held)
  end
  if item.change then change_host_after(host, item.change) end
  take_found(item, known_depth)
  if item.pass and not task.last then item.passed = pass_importance(host, item.pass) end
  if item.entry and OPTIONS.stream then redis.call('XADD', RECORDS, '*', unpack(item.entry)) end
  touch(host)
end

-- What it was parked for has gone while it was out to be skipped for it: it is queued already, or goes back.
local function is_void(item, lease, host, task)
  if item.parked then return unpark(lease.parked, host, item.name, KEYS[item.parked]) == nil end
  if item.outcome ~= 'skipped' or item.reason ~= 'depth' or lease.parked then return false end
  if item.list then given_back[#given_back + 1] = { host, task, KEYS[item.list] } end
  return true
end

local function settle_held(item, lease, index)
  local host = read_host(lease.host)
  if not host then lost('host ' .. lease.host) end
  -- What ends here is missed when it is closed.
  local stays_open = item.outcome == 'returned' or item.outcome == 'retry'
  if item.bucket and stays_open and not is_open(item.name, item.bucket) then lost('a URL that is leased') end
  if is_void(item, lease, host, lease.tasks[index]) then
    release_task(lease, index)
    return 0
  end
  note_answer(item, host, lease)
  settle_one(item, host, release_task(lease, index), true)
  return 1
end

-- A robots.txt whose lease is lost: what it says is taken, unless that or something newer is known; what it names is, in any
-- case. Its lease, if it was given again, goes on.
local function settle_lost_robots(item)
  local robots = item.robots
  if item.outcome ~= 'done' or not robots.record then return 0 end
  local host = settle_in(item.host, item.at)
  apply_policy(host, item.policy)
  if not robots.to then
    local _, lane = settle_in(robots.host, robots.origin)
    if lane.robots and lane.expires >= robots.expires then
      take_found(item)
      return 2
    end
  end
  note_answer(item, host, nil)
  settle_one(item, host, { name = item.name, kind = 'r', origin = item.origin })
  return 1
end

local function settle_lost(item)
  if not item.sure then return 0 end
  if item.kind == 'r' then return settle_lost_robots(item) end
  if is_final(item.name, item.bucket) then return 2 end
  local host = settle_in(item.host, item.origin)
  apply_policy(host, item.policy)
  local task
  if is_open(item.name, item.bucket) then
    task = recover(item)
  else
    -- Not even that it was found is known: it comes in and ends at once.
    take_final(item.name, item.bucket)
    if item.kind == 'p' then add_to('discovered', 1) end
    add_to(item.kind == 'p' and 'open' or 'sitemaps_open', 1)
    task = { name = item.name, kind = item.kind, tier = item.tier, last = item.last, origin = item.origin, row = item.row }
  end
  note_answer(item, host, nil)
  settle_one(item, host, task)
  return 1
end

local results, passed = {}, {}
for number, item in ipairs(ASKED.items) do
  local lease = read_lease(item.fence)
  local index = lease and lease.host == item.host and task_at(lease, item.name)
  results[number] = index and settle_held(item, lease, index) or settle_lost(item)
  passed[number] = item.passed or 0
end

-- Backwards, so that the first of several is in front again.
for number = #given_back, 1, -1 do put_back(unpack(given_back[number])) end

-- --- what was learned, the output, the answer -----------------------------------------------------------------------

local versions, lessons = {}, {}
for _, learned in ipairs(ASKED.traps or {}) do
  local host = read_host(learned[1])
  -- Somebody else may have written what they learned: theirs stays, and the caller reads it.
  if host and (host.traps or 0) == learned[2] then
    lessons[#lessons + 1] = learned[1]
    lessons[#lessons + 1] = learned[3]
    host.traps = learned[2] + 1
    touch(host)
    versions[learned[1]] = host.traps
  end
end
call_with_all('HSET', TRAPS, lessons)

if ASKED.output then
  local stored = redis.call('HGET', OUTPUTS, ASKED.worker)
  local ends = stored and cjson.decode(stored) or {}
  for file, length in pairs(ASKED.output) do ends[file] = math.max(ends[file] or 0, length) end
  redis.call('HSET', OUTPUTS, ASKED.worker, cjson.encode(ends))
end

local facts = {}
for key, host in pairs(touched) do
  if host.aside > 0 then
    local queued = 0
    for _, lane in ipairs(host.lanes) do
      for index = 1, 4 do queued = queued + lane.queued[index] end
    end
    facts[key] = { aside = host.aside, idle = host.leases == 0 and queued == 0 }
  end
end

local sent = sent_reply()
local reply = {
  now = NOW, restarts = redis.call('HGET', META, 'restarts') or '0', results = results, hosts = facts, traps = versions,
  again = true,
}
-- What is sent is in the outbox already.
redis.call('HSET', ASKINGS, asking, ASKED.call .. ' ' .. cjson.encode(reply))
save_leases()
save_hosts()
reply.again, reply.sent, reply.passed = nil, sent, passed
return cjson.encode(reply)
