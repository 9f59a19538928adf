-- Importance that comes to hosts of this partition (importance.ts).
--
-- ASKED  client, call: names this call; asked again by the same name it changes nothing
--        hosts = { { host, amount }, … }
-- reply  {}
-- What goes to a host that is not known goes to the pot.

local refused = guard(true)
if refused then return refused end
local asking = 'cash:' .. ASKED.client
if redis.call('HGET', ASKINGS, asking) == ASKED.call then return '{}' end
for _, given in ipairs(ASKED.hosts) do
  local host, amount = read_host(given[1]), given[2]
  add_to('importance', amount)
  if host == nil then
    add_to('pot', amount)
  else
    host.cash = host.cash + amount
    touch(host)
  end
end
redis.call('HSET', ASKINGS, asking, ASKED.call)
save_hosts()
return '{}'
