-- How a partition stands, as far as its fixed keys tell. Changes nothing, also of a crawl that was moved.
--
-- ARGV[3]  {moving = true}
-- Reply    {now, meta = {name → value}, sizes = {name → entries}, outputs = {worker → JSON}, expiry, visit (time of the first,
--          or nothing), due = hosts that are due, later = hosts with work that are not}

local refusal = guard(false)
if refusal then return refusal end

local function map_of(key)
  local flat, map = redis.call('HGETALL', key), {}
  for index = 1, #flat, 2 do map[flat[index]] = flat[index + 1] end
  return map
end

local due, later = 0, 0
for order = 0, 15 do
  due = due + redis.call('ZCOUNT', KEYS[FIRST_ORDER + order], '-inf', NOW)
  later = later + redis.call('ZCOUNT', KEYS[FIRST_ORDER + order], '(' .. NOW, '+inf')
end
return cjson.encode({
  now = NOW, meta = map_of(META), outputs = map_of(OUTPUTS), due = due, later = later,
  expiry = first_score(EXPIRY), visit = first_score(REVISITS),
  sizes = {
    hosts = redis.call('HLEN', HOSTS), leases = redis.call('HLEN', LEASES), waiting = redis.call('ZCARD', WAITING),
    visits = redis.call('HLEN', VISITS), outbox = redis.call('XLEN', OUTBOX),
    undelivered = redis.call('HLEN', UNDELIVERED), records = redis.call('XLEN', RECORDS),
  },
})
