-- A lease on rows of one host that are parked, to be skipped without a request. They stay parked until they are settled.
--
-- KEYS   beyond the fixed ones: the hashes of the host
-- ASKED  host, held, aside, worker; client, call: names this call; names: of rows aside that were judged again
-- reply  lease, as shared/look.lua says it; review = true when only what is aside is left, and none was named; neither
--        when something of the partition is leased or nothing is parked
-- While it is out nothing else of the partition can be leased in this way: none is handed out twice. The same call again
-- is answered with the same lease, if it is still open.

local MOST_PARKED = 256

local refused = guard(true)
if refused then return refused end
local asking = 'lease:' .. ASKED.client
local before = redis.call('HGET', ASKINGS, asking)
before = before and cjson.decode(before)
if before and before.call == ASKED.call then
  return cjson.encode({ now = NOW, lease = open_leases(before.fences)[1] })
end
local host = read_host(ASKED.host)
if redis.call('HLEN', LEASES) > 0 or not host then return '{}' end

local kind = host.held > 0 and 'held' or 'aside'
local tasks = {}
local function add_task(name, row)
  local fields = row_fields(row)
  tasks[#tasks + 1] = {
    name = name, kind = fields.kind, row = row, slot = fields.slot, rank = fields.rank,
    tier = slot_tier(host, SLOT_INDEX[fields.slot]), origin = row_origin(row),
  }
end
if host[kind] == 0 then return '{}' end
if kind == 'held' then
  local cursor = '0'
  repeat
    local found = redis.call('HSCAN', KEYS[ASKED.held], cursor, 'COUNT', MOST_PARKED)
    cursor = found[1]
    for index = 1, math.min(#found[2], 2 * MOST_PARKED), 2 do add_task(found[2][index], found[2][index + 1]) end
  until #tasks > 0 or cursor == '0'
  if #tasks == 0 then lost('what is held of ' .. host.key) end
elseif ASKED.names == nil then
  return '{"review":true}'
else
  for index = 1, math.min(#ASKED.names, MOST_PARKED) do
    local row = redis.call('HGET', KEYS[ASKED.aside], ASKED.names[index])
    if row then add_task(ASKED.names[index], row) end
  end
end
if #tasks == 0 then
  if host[kind] > 0 then lost('what is parked of ' .. host.key) end
  return '{}'
end
local lease = open_lease(host, { worker = ASKED.worker, tasks = tasks, parked = kind })
local reply = lease_reply(lease)
redis.call('HSET', ASKINGS, asking, cjson.encode({ call = ASKED.call, fences = { lease.fence }, now = NOW }))
save_leases()
save_hosts()
return cjson.encode({ now = NOW, lease = reply })
