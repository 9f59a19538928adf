-- What every verb begins with: the names of the fixed keys of its partition, the options of the crawl, the time, and the
-- proof that this is the crawl that the caller means, on a server that may answer for it.
--
-- KEYS[1..18]  the fixed keys, in the order of keys.ts; KEYS[19..34] the orders of hosts; KEYS[35] records; others are the
--              verb's own
-- ARGV[1]      options of the crawl, JSON (options.ts), the same in every call of a frontier
-- ARGV[2]      the time in ms for a frontier on a virtual clock, '' for the server's own
-- ARGV[3]      what the verb is asked, JSON
-- Errors that begin with TIPTOE are meant for people and are final.

local META, HOSTS, LEASES, EXPIRY, ASKINGS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local WAITING, VISITS, REVISITS, UNDELIVERED, MOVED = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local ROBOTS, TRAPS, GROUPS, DEPTHS, PARKED = KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]
local OUTBOX, INBOX, OUTPUTS, RECORDS = KEYS[16], KEYS[17], KEYS[18], KEYS[35]
local FIRST_ORDER = 19
local FIRST_OWN = 36

local OPTIONS = cjson.decode(ARGV[1])
local ASKED = cjson.decode(ARGV[3])

-- Whole milliseconds, rounded down: what is due by it is due by the exact time too.
local NOW
if ARGV[2] == '' then
  local time = redis.call('TIME')
  NOW = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
else
  NOW = math.floor(tonumber(ARGV[2]))
end

local function refuse(why)
  return redis.error_reply('TIPTOE ' .. why)
end

-- The fixed keys that are there. Not counted are records, the last one: whoever reads them may take them away.
local function count_keys()
  return redis.call('EXISTS', unpack(KEYS, 1, FIRST_OWN - 2))
end

-- State that must be there is not. What the verb has written until then does not matter any more, and every other verb is
-- refused from now on, so that everybody hears of it.
local function lost(what)
  redis.pcall('HSET', META, 'lost', what)
  error(redis.error_reply('TIPTOE the state of the crawl ' .. OPTIONS.crawl .. ' is lost: ' .. what .. ' is missing in partition ' .. OPTIONS.partition))
end

-- Fences given in a second by one partition: fewer than this, over all years since 1970.
local FENCES_PER_SECOND = 4096
-- How far the clock may go back before that counts as a step.
local STEP_MS = 1000

-- Undefined when all is well; otherwise what to answer instead. `judge` is true in verbs that let requests be sent: they
-- find out that another server answers now, or that its clock was set back, and make the partition keep quiet until no
-- lease that was granted before can be in use (DESIGN, Pace, exactly, 4 and 5). Those must not be read-only.
local QUIET = 0
-- The orders of hosts that have ever had one, as bits: the others need no look.
local USED_ORDERS
local function is_order_used(order)
  return bit.band(USED_ORDERS, bit.lshift(1, order)) ~= 0
end
local function guard(judge)
  local known = redis.call('HMGET', META, 'layout', 'generation', 'server', 'quiet', 'latest', 'barred', 'keys', 'lost',
    'orders')
  if not known[1] then
    return refuse('the state of the crawl ' .. OPTIONS.crawl .. ' is lost: partition ' .. OPTIONS.partition .. ' is empty')
  end
  if known[1] ~= tostring(OPTIONS.layout) then
    return refuse('the crawl ' .. OPTIONS.crawl .. ' has layout ' .. known[1] .. ' on the store, and this version of tiptoe has layout ' .. OPTIONS.layout)
  end
  if known[2] ~= OPTIONS.generation then
    return refuse('the state of the crawl ' .. OPTIONS.crawl .. ' is lost or was replaced: partition ' .. OPTIONS.partition .. ' is of another generation')
  end
  -- A crawl that was moved elsewhere, or is being moved here, says so itself.
  if known[6] and not ASKED.moving then return refuse(known[6]) end
  if known[8] then lost(known[8]) end
  -- What was deleted or evicted between two verbs is missed by the next, before anything is done without it.
  if known[7] and tonumber(known[7]) ~= count_keys() then lost('a key') end
  QUIET = tonumber(known[4] or '0')
  USED_ORDERS = tonumber(known[9])
  if not judge then return nil end
  local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  local latest = tonumber(known[5] or '0')
  if known[3] ~= server or NOW < latest - STEP_MS or ASKED.stepped then
    QUIET = NOW + OPTIONS.quietMs
    -- Fences grow with time, so that none is given twice although the last ones may be forgotten.
    local fence = math.max(tonumber(redis.call('HGET', META, 'fence') or '0'), math.floor(NOW / 1000) * FENCES_PER_SECOND)
    redis.call('HSET', META, 'server', server, 'quiet', QUIET, 'latest', NOW, 'fence', string.format('%.0f', fence))
    -- So does this, which names the time since then: a count would come to the same number again, if the last was forgotten.
    local restarts = math.max(tonumber(redis.call('HGET', META, 'restarts') or '0') + 1, NOW)
    redis.call('HSET', META, 'restarts', string.format('%.0f', restarts))
  elseif NOW > latest then
    redis.call('HSET', META, 'latest', NOW)
  end
  return nil
end

-- Sums are kept, never computed by counting: names are those of the fields of `meta`.
local changed_sums = {}
local read_sums = {}
local function add_to(name, by)
  changed_sums[name] = (changed_sums[name] or 0) + by
end
local function sum(name)
  local stored = read_sums[name]
  if stored == nil then
    stored = tonumber(redis.call('HGET', META, name) or '0')
    read_sums[name] = stored
  end
  return stored + (changed_sums[name] or 0)
end
-- Has several of them read at once, of those that were not read yet.
local function read_together(names)
  if read_sums[names[1]] ~= nil then return end
  for index, stored in ipairs(redis.call('HMGET', META, unpack(names))) do
    read_sums[names[index]] = tonumber(stored or '0')
  end
end
-- Ends every verb that writes, after all else: whoever saw the same version twice saw the same state.
local function save_sums()
  add_to('version', 1)
  local names = {}
  for name, by in pairs(changed_sums) do
    if by ~= 0 then names[#names + 1] = name end
  end
  local stored = redis.call('HMGET', META, unpack(names))
  local fields = { 'keys', count_keys() }
  for index = 1, #names do
    local name = names[index]
    fields[2 * index + 1] = name
    fields[2 * index + 2] = string.format('%.17g', tonumber(stored[index] or '0') + changed_sums[name])
  end
  changed_sums, read_sums = {}, {}
  redis.call('HSET', META, unpack(fields))
end

-- A fence is this many times a counter, and the partition: so it is unique in the crawl.
local MOST_PARTITIONS = 1024
local function next_fence()
  add_to('fence', 1)
  return sum('fence') * MOST_PARTITIONS + OPTIONS.partition
end

-- One command with any number of arguments behind its key, in pairs where it takes pairs: as few calls as can be, since each
-- is passed on to replicas and to the log by itself. Answers the sum of what they answer.
local MOST_ARGUMENTS = 1000
local function call_with_all(command, key, arguments)
  local answered = 0
  for first = 1, #arguments, MOST_ARGUMENTS do
    local last = math.min(first + MOST_ARGUMENTS - 1, #arguments)
    answered = answered + redis.call(command, key, unpack(arguments, first, last))
  end
  return answered
end
