-- Writes URLs of a crawl that is moved here.
--
-- KEYS     what shared/intake.lua names, and the hashes of parked URLs
-- ARGV[3]  {moving = true, portion = number, the tables of intake.lua, items = [{name, bucket, place, kind ('p' or 's'),
--          state, depth, referrers, hour, row; and as far as it applies: at (of `waiting`), reason (of `skipped`),
--          parked = number of the hash (of `held` and `aside`), visited = true, visit = text, due, url and children}…]}
-- Reply    {loaded = number of the last portion that is here}, or what intake.lua answers for tables that do not fit
-- Guarantee: a portion is taken once, in order of the numbers.

local refusal = guard(false)
if refusal then return refusal end
local loaded = tonumber(redis.call('HGET', META, 'loaded') or '0')
if ASKED.portion <= loaded then return cjson.encode({ loaded = loaded }) end
local unready = not_ready()
if unready then return unready end

local FINAL = { done = true, failed = true, skipped = true }
for _, item in ipairs(ASKED.items) do
  local place = ASKED.places[item.place]
  local host, lane = lane_at(place[1])
  local slot, rank = place[2], place[3]
  -- Its list may be another than the one it asked for, where a part has all that it may have.
  local row = row_with(item.row, { rank = rank })
  local is_page = item.kind == 'p'
  add_to('known', 1)
  if is_page then add_to('discovered', 1) end
  if FINAL[item.state] then
    redis.call('SADD', KEYS[ASKED.buckets[item.bucket][1]], item.name)
    if is_page then add_to(item.state == 'skipped' and 'skipped:' .. item.reason or item.state, 1) end
  else
    redis.call('HSET', KEYS[ASKED.buckets[item.bucket][2]], item.name,
      pack_open(item.depth, item.visited and VISITED or math.min(MOST_REFERRERS, item.referrers), slot, item.hour))
    add_to(is_page and 'open' or 'sitemaps_open', 1)
    if is_page and item.visited then add_to('refreshing', 1) end
    if item.state == 'queued' then
      enqueue(host, lane, slot, rank, KEYS[place[4]], row)
    elseif item.state == 'waiting' then
      add_to('retries', redis.call('ZADD', WAITING, string.format('%.0f', item.at), item.row))
      mark_out(item.name)
    else
      park(item.state, host, item.name, row, KEYS[item.parked])
    end
  end
  if item.visit then redis.call('HSET', VISITS, item.name, item.visit) end
  if item.due then redis.call('ZADD', REVISITS, string.format('%.0f', item.due), item.name) end
  if item.children then
    redis.call('HSET', DEPTHS, item.name, cmsgpack.pack({ item.depth, item.url, item.children }))
  end
  touch(host)
end
redis.call('HSET', META, 'loaded', ASKED.portion)
save_hosts()
return cjson.encode({ loaded = ASKED.portion })
