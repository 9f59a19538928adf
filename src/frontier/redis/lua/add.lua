-- Makes URLs known.
--
-- ASKED   tables of intake.lua; call: names this call, <client>:<number>, where the calls of a client to a partition come
--         one after another and their numbers grow; items: see take_in
-- reply   {"added":…,"sent":…,"splitting":true while buckets are split}, or that of not_ready
-- Durable. Sent again, it changes nothing and answers the same, whether its client has made later calls meanwhile or not:
-- otherwise a page would seem to have more referrers with each time.

local refusal = guard(true)
if refusal then return refusal end
local client, number = string.match(ASKED.call, '^(.+):(%d+)$')
local asking = 'add:' .. client
local before = redis.call('HGET', ASKINGS, asking)
local last = before and cjson.decode(before)
if last and tonumber(number) <= last.call then
  return cjson.encode({ added = last.added, sent = sent_before() })
end
local later = not_ready()
if later then return later end
local added = take_in(ASKED.items)
local sent = sent_reply()
redis.call('HSET', ASKINGS, asking, cjson.encode({ call = tonumber(number), added = added, now = NOW }))
save_hosts()
return cjson.encode({ added = added, sent = sent, splitting = is_splitting() })
