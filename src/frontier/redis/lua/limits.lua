-- What a partition may have of the limit of pages: `granted` less `returned`, both of which only grow (limits.ts).
--
-- ASKED   granted, returned: as the pool has them, absent to read only; giveBack: true to return what is not used
-- reply   {"granted":…,"returned":…,"room":…}
-- Harmless when it is sent twice. After a change of the server or of the limit there is no room until the pool has been
-- heard again; while the partition keeps quiet nothing is returned, since what was lost is still being told again.

local refusal = guard(true)
if refusal then return refusal end
local known = redis.call('HMGET', META, 'granted', 'returned')
local granted, returned = tonumber(known[1] or '0'), tonumber(known[2] or '0')
if ASKED.granted then
  granted, returned = math.max(granted, ASKED.granted), math.max(returned, ASKED.returned)
  redis.call('HSET', META, 'granted', granted, 'returned', returned, 'granted_under', limit_in_force())
end
local unused = granted - returned - sum('done') - sum('refreshing') - sum('leased_new')
if ASKED.giveBack and unused > 0 and NOW >= QUIET then
  returned = returned + unused
  redis.call('HSET', META, 'returned', returned)
end
save_sums()
return cjson.encode({ granted = granted, returned = returned, room = pages_room() or 0 })
