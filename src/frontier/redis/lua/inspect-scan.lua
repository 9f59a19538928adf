-- A portion of something in a partition that is kept by name. Changes nothing, also of a crawl that was moved.
--
-- KEYS     the hash of a host's parked URLs, for `parked`
-- ARGV[3]  {what, cursor, count, moving = true, key = number of that hash}. What:
--          leases: {fence, host, worker, expires, parked, tasks = [{name, kind, row, slot, rank, url}…]} each
--          waiting: [row, time of its next attempt] each, without those that are final; parked: the rows
--          visits: [fingerprint, what the next visit should know, time of that visit or nothing] each
--          depths: [depth, URL, what it names (shared/intake.lua)] each
-- Reply    {cursor ('0' behind the last), items}

local refusal = guard(false)
if refusal then return refusal end

local items = {}
local scans = {
  leases = function(cursor)
    local found = redis.call('HSCAN', LEASES, cursor, 'COUNT', ASKED.count)
    for index = 2, #found[2], 2 do
      local lease = cmsgpack.unpack(found[2][index])
      items[#items + 1] = {
        fence = lease.fence, host = lease.host, worker = lease.worker, expires = lease_end(lease), parked = lease.parked,
        tasks = lease.tasks,
      }
    end
    return found[1]
  end,
  waiting = function(cursor)
    local found = redis.call('ZSCAN', WAITING, cursor, 'COUNT', ASKED.count)
    for index = 1, #found[2], 2 do
      if place_of(row_name(found[2][index])) ~= 'x' then
        items[#items + 1] = { found[2][index], tonumber(found[2][index + 1]) }
      end
    end
    return found[1]
  end,
  parked = function(cursor)
    local found = redis.call('HSCAN', KEYS[ASKED.key], cursor, 'COUNT', ASKED.count)
    for index = 2, #found[2], 2 do items[#items + 1] = found[2][index] end
    return found[1]
  end,
  visits = function(cursor)
    local found = redis.call('HSCAN', VISITS, cursor, 'COUNT', ASKED.count)
    for index = 1, #found[2], 2 do
      local name = found[2][index]
      local planned = redis.call('ZSCORE', REVISITS, name)
      items[#items + 1] = { name, found[2][index + 1], planned and tonumber(planned) or nil }
    end
    return found[1]
  end,
  depths = function(cursor)
    local found = redis.call('HSCAN', DEPTHS, cursor, 'COUNT', ASKED.count)
    for index = 2, #found[2], 2 do items[#items + 1] = cmsgpack.unpack(found[2][index]) end
    return found[1]
  end,
}
local cursor = scans[ASKED.what](ASKED.cursor)
return cjson.encode({ cursor = cursor, items = items })
