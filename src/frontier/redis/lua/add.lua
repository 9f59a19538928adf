-- Makes URLs known.
--
-- ASKED   tables of intake.lua; call: names this call; items: see take_in
-- reply   {"added":…,"sent":…,"splitting":true while buckets are split}, or that of not_ready
-- Durable, and the same when it is sent twice: what is known stays known.

local refusal = guard(true)
if refusal then return refusal end
local later = not_ready()
if later then return later end
local added = take_in(ASKED.items)
local sent = sent_reply()
save_hosts()
return cjson.encode({ added = added, sent = sent, splitting = is_splitting() })
