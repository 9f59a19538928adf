-- Hosts of a partition, a portion of them or one. Changes nothing, also of a crawl that was moved.
--
-- ARGV[3]  {cursor, count} or {host}; whole = true for the texts of robots.txt files and what was learned of traps too
-- Reply    {now, cursor ('0' behind the last), hosts = [{key and the fields of shared/host.lua, bodies = {origin → text},
--          learned}…]}

local refusal = guard(false)
if refusal then return refusal end

local cursor, keys = '0', {}
if ASKED.host then
  keys[1] = ASKED.host
else
  local found = redis.call('HSCAN', HOSTS, ASKED.cursor, 'COUNT', ASKED.count)
  cursor = found[1]
  for index = 1, #found[2], 2 do keys[#keys + 1] = found[2][index] end
end
local answer = {}
for _, key in ipairs(keys) do
  local host = read_host(key)
  if host then
    if ASKED.whole then
      local bodies = {}
      for _, lane in ipairs(host.lanes) do
        if lane.robots then bodies[lane.origin] = redis.call('HGET', ROBOTS, lane.origin) or nil end
      end
      host.bodies = bodies
      host.learned = redis.call('HGET', TRAPS, key) or nil
    end
    answer[#answer + 1] = host
  end
end
return cjson.encode({ now = NOW, cursor = cursor, hosts = answer })
