-- URLs that are parked: `held` for being too deep, or `aside` as likely traps or beyond what their host may have. They stand
-- in no queue but in a hash of their host, fingerprint → row, and are counted; their place is `out`. They stay there while
-- a lease has them to be skipped, so that what frees them in the meantime makes that lease's settlement void. `parked` has
-- the hosts that have any, held ones first, then by name.

local function parked_name(kind, host)
  return (kind == 'held' and '1 ' or '2 ') .. host.key
end

local function park(kind, host, fp, row, key)
  redis.call('HSET', key, fp, row)
  host[kind] = host[kind] + 1
  if redis.call('HLEN', key) ~= host[kind] then lost('what is parked of ' .. host.key) end
  if host[kind] == 1 then redis.call('ZADD', PARKED, 0, parked_name(kind, host)) end
  add_to(kind, 1)
  mark_out(fp)
  touch(host)
end

-- The row, which is parked no longer; nil when it was not. Where it goes is up to the caller.
local function unpark(kind, host, fp, key)
  local row = redis.call('HGET', key, fp)
  if not row then return nil end
  redis.call('HDEL', key, fp)
  host[kind] = host[kind] - 1
  if host[kind] == 0 then redis.call('ZREM', PARKED, parked_name(kind, host)) end
  add_to(kind, -1)
  touch(host)
  return row
end
