-- The sums of a partition, and the hosts that come next.
--
-- ARGV[3]  {count (hosts that come next, at most), worker}
-- Reply    {now, sums = {every field of meta that is a number}, closest_host, waiting = hosts in the orders,
--          next = [[host, at, reason]…], output = the committed end of the worker's output, if any}

local refusal = guard(false)
if refusal then return refusal end

local sums, closest_host = {}, nil
local fields = redis.call('HGETALL', META)
for index = 1, #fields, 2 do
  if fields[index] == 'closest_host' then closest_host = fields[index + 1] end
  sums[fields[index]] = fields[index] ~= 'generation' and tonumber(fields[index + 1]) or nil
end

local function wait_reason(host)
  if host.blocked_until > NOW then return host.blocked_reason or 'blocked' end
  local asked = 0
  for _, lane in ipairs(host.lanes) do
    if lane.not_before > NOW then return 'robots.txt could not be had yet' end
    asked = math.max(asked, lane.crawl_delay)
  end
  if host.place > NOW then return 'others of its domain or address' end
  local delay = delay_of(host)
  if delay <= host.policy_delay then return 'delay' end
  return delay > asked and 'slow answers' or 'Crawl-delay'
end

local upcoming, waiting = {}, 0
for order = 0, 15 do
  if is_order_used(order) then
    local key = KEYS[FIRST_ORDER + order]
    waiting = waiting + redis.call('ZCARD', key)
    local found = redis.call('ZRANGEBYSCORE', key, '(' .. NOW, '+inf', 'WITHSCORES', 'LIMIT', 0, ASKED.count)
    for index = 1, #found, 2 do upcoming[#upcoming + 1] = { found[index], tonumber(found[index + 1]) } end
  end
end
table.sort(upcoming, function(a, b) return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1]) end)
for index = #upcoming, ASKED.count + 1, -1 do upcoming[index] = nil end
for _, item in ipairs(upcoming) do
  local host = read_host(item[1])
  item[3] = host and wait_reason(host) or 'delay'
end
return cjson.encode({
  now = NOW, sums = sums, closest_host = closest_host, waiting = waiting, next = upcoming,
  output = redis.call('HGET', OUTPUTS, ASKED.worker) or nil,
})
