-- Queues pages whose time has come again, like new ones.
--
-- KEYS   beyond the fixed ones: what intake.lua names
-- ASKED  the tables of intake.lua; until; items as intake.lua has them: name, bucket, place, depth, row as
--        it stands in a list
-- reply  queued: how many
-- One that is planned for later by now, or not at all, stays as it is.

local refused = guard(false)
if refused then return refused end
local unready = not_ready()
if unready then return unready end

local queued = 0
for _, item in ipairs(ASKED.items) do
  local name, bucket, place, depth, row = item[1], item[2], ASKED.places[item[3]], item[4], item[5]
  local due = redis.call('ZSCORE', REVISITS, name)
  if due and tonumber(due) <= ASKED['until'] then
    redis.call('ZREM', REVISITS, name)
    if is_final(name, bucket) then
      local host, lane = lane_at(place[1])
      local slot, rank = place[2], place[3]
      reopen_url(name, bucket, depth, slot)
      if rank > 0 then
        add_to('done', -1)
        add_to('open', 1)
        add_to('refreshing', 1)
      else
        add_to('sitemaps_open', 1)
      end
      mark_queued(name, slot, rank)
      enqueue_stored(host, lane, slot, rank, KEYS[place[4]], { row })
      queued = queued + 1
    end
  end
end
save_hosts()
return cjson.encode({ queued = queued })
