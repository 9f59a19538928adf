-- Takes messages from other partitions, or from this one to itself.
--
-- ASKED   tables of intake.lua; call: names this call; entries: { from, epoch, number, messages, floor }, from being
--         the partition that sent it, a message being { kind = 'found' or 'better', items } or as its sender made it
--         (robots.lua, ledger.lua); floor: all numbers below it were delivered, 0 when that is not known
-- reply   {"sent":…,"splitting":true while buckets are split} with what that leads to, or that of not_ready; with
--         "behind":true, so many entries of a partition were taken out of turn that the ones missing must come first
-- Each entry is taken once, however often and in whichever order they come.

local MOST_OUT_OF_TURN = 4096

local refusal = guard(true)
if refusal then return refusal end
local later = not_ready()
if later then return later end

local TAKEN_BY = {
  found = function(message) take_in(message.items) end,
  better = function(message)
    for _, item in ipairs(message.items) do take_better(item) end
  end,
  robots = robots_in,
  errand = errand_in,
}

-- inbox[partition:epoch] = all numbers up to the first were taken, and those that follow it.
local inboxes = {}
local function inbox_of(from, epoch)
  local name = from .. ':' .. epoch
  if not inboxes[name] then
    local stored = redis.call('HGET', INBOX, name)
    local numbers = stored and cmsgpack.unpack(stored) or { 0 }
    local inbox = { upto = numbers[1], beyond = {}, count = #numbers - 1 }
    for index = 2, #numbers do inbox.beyond[numbers[index]] = true end
    inboxes[name] = inbox
  end
  return inboxes[name]
end

-- What was delivered and is missing nevertheless was lost with a server, and will not come any more.
local function raise(inbox, floor)
  for number in pairs(inbox.beyond) do
    if number < floor then
      inbox.beyond[number] = nil
      inbox.count = inbox.count - 1
    end
  end
  inbox.upto = floor - 1
end

local behind = false
for _, entry in ipairs(ASKED.entries) do
  local inbox, number, floor = inbox_of(entry[1], entry[2]), entry[3], entry[5]
  if floor > inbox.upto + 1 then raise(inbox, floor) end
  if number > inbox.upto and not inbox.beyond[number] then
    if number > inbox.upto + 1 and inbox.count >= MOST_OUT_OF_TURN then
      behind = true
    else
      inbox.beyond[number] = true
      inbox.count = inbox.count + 1
      while inbox.beyond[inbox.upto + 1] do
        inbox.upto = inbox.upto + 1
        inbox.count = inbox.count - 1
        inbox.beyond[inbox.upto] = nil
      end
      for _, message in ipairs(entry[4]) do TAKEN_BY[message.kind](message) end
    end
  end
end
local kept = {}
for name, inbox in pairs(inboxes) do
  local numbers = { inbox.upto }
  for number in pairs(inbox.beyond) do numbers[#numbers + 1] = number end
  kept[#kept + 1] = name
  kept[#kept + 1] = cmsgpack.pack(numbers)
end
call_with_all('HSET', INBOX, kept)
local sent = sent_reply()
save_hosts()
return cjson.encode({ sent = sent, behind = behind or nil, splitting = is_splitting() })
