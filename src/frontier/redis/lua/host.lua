-- What is known of a host, after a change if one is given.
--
-- ASKED  host; policy; change (shared/health.lua), absent when it is only asked for
-- reply  {} for a host never seen; otherwise host = { delay, concurrency, answered, until, reason, health, address, closest,
--        queued, robots = { { record, text }, … } }

local refused = guard(false)
if refused then return refused end
local host = read_host(ASKED.host)
if not host then return '{}' end
apply_policy(host, ASKED.policy)
if ASKED.change then
  change_host(host, ASKED.change)
  save_hosts()
end

local queued, robots = 0, {}
for _, lane in ipairs(host.lanes) do
  for index = 1, 4 do queued = queued + lane.queued[index] end
  if lane.robots then robots[#robots + 1] = { lane.robots, redis.call('HGET', ROBOTS, lane.origin) or '' } end
end
return cjson.encode({
  now = NOW,
  host = {
    delay = delay_of(host), concurrency = host.policy_concurrency, answered = host.answered,
    ['until'] = host.blocked_until, reason = host.blocked_reason, address = host.address, closest = host.closest,
    health = { host.strikes, host.streak, host.streak_since, host.blocked_at, host.latency },
    queued = queued, robots = robots,
  },
})
