-- Writes hosts of a crawl that is moved here.
--
-- ARGV[3]  {moving = true, portion = number, hosts = [{key, seq, policy, the fields of shared/host.lua as they are,
--          lanes = [{origin, not_before, attempts, moved, robots (JSON of all but its text), expires, crawl_delay, version,
--          body}…], errands = [{origin, url, redirects, attempts}…], learned}…]}
-- Reply    {loaded = number of the last portion that is here}
-- Guarantee: a portion is taken once, in order of the numbers.

local refusal = guard(false)
if refusal then return refusal end
local loaded = tonumber(redis.call('HGET', META, 'loaded') or '0')
if ASKED.portion <= loaded then return cjson.encode({ loaded = loaded }) end

local CARRIED = {
  'seq', 'tier', 'pages', 'cash', 'credit', 'depth', 'change_pages', 'change_rate', 'revisit_rate', 'answered',
  'blocked_until', 'blocked_reason', 'strikes', 'streak', 'streak_since', 'blocked_at', 'latency', 'address', 'closest',
}
for _, item in ipairs(ASKED.hosts) do
  local host = {
    key = item.key, leases = 0, leased_new = 0, place = 0, held = 0, aside = 0, lanes = {}, errands = item.errands,
    policy_delay = 0, policy_concurrency = 1,
  }
  for _, name in ipairs(CARRIED) do host[name] = item[name] end
  hosts[item.key] = host
  apply_policy(host, item.policy)
  for _, carried in ipairs(item.lanes) do
    local _, lane = settle_in(item.key, carried.origin)
    lane.not_before, lane.attempts, lane.moved = carried.not_before, carried.attempts, carried.moved
    if carried.robots then
      lane.robots, lane.expires = carried.robots, carried.expires
      lane.crawl_delay, lane.version = carried.crawl_delay, carried.version
      if carried.body ~= '' then redis.call('HSET', ROBOTS, carried.origin, carried.body) end
    end
  end
  if item.learned then
    host.traps = 1
    redis.call('HSET', TRAPS, item.key, item.learned)
  end
  add_to('hosts', 1)
  add_to('importance', item.cash + item.credit)
  touch(host)
end
redis.call('HSET', META, 'loaded', ASKED.portion)
save_hosts()
return cjson.encode({ loaded = ASKED.portion })
