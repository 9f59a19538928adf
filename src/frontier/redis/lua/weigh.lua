-- Looks before tasks are settled: which of them their leases have, and what has to be known to settle them.
--
-- KEYS   beyond the fixed ones: for what is to be skipped for having been parked, the hash of its host
-- ASKED  items = { { fence, name, key of the hash or 0 }, … }; traps = { host → version that the caller has }
-- reply  now; items = { 0 for one that is not held, or { row, slot, rank, tier, origin, last, parked, errand, void,
--        visit }, … }; hosts = { host → numbers that a plan of visits is made from, and what was learned of its traps
--        where the caller has another version }; recrawl = { tier → { pages, price, rates } }
-- Writes nothing but that a lease which is about to end is left alone for as long as settling takes: whoever was told
-- that a task is held may write its record before it settles.

local SETTLING_MS = 5000

local refused = guard(false)
if refused then return refused end

local function keep_for_settling(lease)
  if lease_end(lease) >= NOW + SETTLING_MS then return end
  lease.settling = NOW + SETTLING_MS
  touch_lease(lease)
end

local function facts_of(host)
  local version = host.traps or 0
  local facts = {
    delay = delay_of(host), change_pages = host.change_pages, change_rate = string.format('%.17g', host.change_rate),
    revisit_rate = string.format('%.17g', host.revisit_rate), importance = host_importance(host), tier = host.tier,
    traps = version,
  }
  local has = ASKED.traps and ASKED.traps[host.key]
  if has and has ~= version then facts.learned = redis.call('HGET', TRAPS, host.key) or '' end
  return facts
end

local items, facts = {}, {}
for number, item in ipairs(ASKED.items) do
  local lease = read_lease(item[1])
  local index = lease and task_at(lease, item[2])
  items[number] = 0
  if index then
    local task = lease.tasks[index]
    keep_for_settling(lease)
    if not facts[lease.host] then
      facts[lease.host] = facts_of(read_host(lease.host) or lost('host ' .. lease.host))
    end
    items[number] = {
      row = task.row, slot = task.slot, rank = task.rank, tier = task.tier, origin = task.origin, last = task.last,
      parked = lease.parked, errand = task.errand, host = lease.host,
      void = item[3] > 0 and redis.call('HEXISTS', KEYS[item[3]], task.name) == 0 or nil,
      visit = task.last and redis.call('HGET', VISITS, task.name) or nil,
    }
  end
end
save_leases()

local recrawl = {}
if OPTIONS.recrawl.mode ~= 'off' then
  for _, tier in ipairs({ 'high', 'medium', 'low' }) do
    local prefix = 'recrawl:' .. tier
    local state = redis.call('HMGET', META, prefix .. ':pages', prefix .. ':price', prefix .. ':rates')
    recrawl[tier] = { state[1] or '0', state[2] or '0', state[3] or '' }
  end
end
return cjson.encode({
  now = NOW, items = items, hosts = facts, recrawl = recrawl,
})
