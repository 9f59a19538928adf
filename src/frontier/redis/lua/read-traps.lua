-- What was learned of the traps of hosts. Changes nothing.
--
-- ASKED  hosts
-- reply  traps = { { version, text }, … }, in the order of the hosts

local refused = guard(false)
if refused then return refused end
local traps = {}
for index, key in ipairs(ASKED.hosts) do
  local host = read_host(key)
  traps[index] = { host and host.traps or 0, redis.call('HGET', TRAPS, key) or '' }
end
return cjson.encode({ traps = traps })
