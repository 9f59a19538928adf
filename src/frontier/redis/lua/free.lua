-- Queues rows of a host that were aside.
--
-- KEYS   beyond the fixed ones: the hash of rows aside of the host, and the list of each row
-- ASKED  host, key, items, each: name, row, origin, slot, rank, list
-- reply  freed: how many
-- One that is not aside any more stays as it is.

local refused = guard(false)
if refused then return refused end
local freed = 0
for _, item in ipairs(ASKED.items) do
  local host, lane = settle_in(ASKED.host, item.origin)
  if unpark('aside', host, item.name, KEYS[ASKED.key]) then
    mark_queued(item.name, item.slot, item.rank)
    enqueue(host, lane, item.slot, item.rank, KEYS[item.list], item.row)
    freed = freed + 1
  end
end
save_hosts()
return cjson.encode({ freed = freed })
