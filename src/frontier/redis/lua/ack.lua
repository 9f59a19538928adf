-- Entries of the outbox were taken by their partitions. They are kept for a while nevertheless: a partition whose
-- server changes may have lost them, and is told again.
--
-- ASKED   ids; keepMs
-- reply   {}

local refusal = guard()
if refusal then return refusal end
if #ASKED.ids > 0 then redis.call('HDEL', UNDELIVERED, unpack(ASKED.ids)) end

local keep_from, keep_number = NOW - ASKED.keepMs, 0
for _, id in ipairs(redis.call('HKEYS', UNDELIVERED)) do
  local ms, number = string.match(id, '^(%d+)-(%d+)$')
  ms, number = tonumber(ms), tonumber(number)
  if ms < keep_from or (ms == keep_from and number < keep_number) then keep_from, keep_number = ms, number end
end
redis.call('XTRIM', OUTBOX, 'MINID', string.format('%.0f-%.0f', math.max(0, keep_from), keep_number))
save_sums()
return '{}'
