-- Some of the rows of a host that are aside, and what they are judged by. Changes nothing.
--
-- KEYS   beyond the fixed ones: the hash of rows aside of the host
-- ASKED  host, key, cursor, count; version of what the caller knows of its traps
-- reply  rows, cursor ('0' at the end), pages that the host has, traps (version), learned (where the version differs)

local refused = guard(false)
if refused then return refused end
local host = read_host(ASKED.host)
if not host then lost('host ' .. ASKED.host) end
local found = redis.call('HSCAN', KEYS[ASKED.key], ASKED.cursor, 'COUNT', ASKED.count)
local rows = {}
for index = 2, #found[2], 2 do rows[#rows + 1] = found[2][index] end
local version = host.traps or 0
local learned = nil
if ASKED.version ~= version then learned = redis.call('HGET', TRAPS, host.key) or '' end
return cjson.encode({ rows = rows, cursor = found[1], pages = host.pages, traps = version, learned = learned })
