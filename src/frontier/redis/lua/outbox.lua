-- What stands in the outbox. Read-only.
--
-- ASKED   either before: entries that are not delivered, and were sent that many ms ago or longer, the oldest first; or
--         to: all entries to that partition behind the id `after`. most: how many at most are looked at
-- reply   {"entries":[[id, to, epoch, number, body]…],"after":id} with `after` absent at the end

local refusal = guard()
if refusal then return refusal end

local entries = {}
local after
if ASKED.to then
  local range = redis.call('XRANGE', OUTBOX, ASKED.after and '(' .. ASKED.after or '-', '+', 'COUNT', ASKED.most)
  for _, stored in ipairs(range) do
    local entry = read_entry(stored)
    if entry[2] == ASKED.to then entries[#entries + 1] = entry end
  end
  if #range == ASKED.most then after = range[#range][1] end
else
  local ids = {}
  for _, id in ipairs(redis.call('HKEYS', UNDELIVERED)) do
    local ms, number = string.match(id, '^(%d+)-(%d+)$')
    if tonumber(ms) <= NOW - ASKED.before then ids[#ids + 1] = { id, tonumber(number) } end
  end
  table.sort(ids, function(a, b) return a[2] < b[2] end)
  for index = 1, math.min(#ids, ASKED.most) do
    local stored = redis.call('XRANGE', OUTBOX, ids[index][1], ids[index][1])[1]
    if not stored then lost('an entry of the outbox') end
    entries[index] = read_entry(stored)
  end
end
return cjson.encode({ entries = entries, after = after })
