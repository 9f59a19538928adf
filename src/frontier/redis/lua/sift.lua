-- Takes rows out of leases that were just granted: some are set aside, others go back to the front of their lists. A lease
-- that has none left is over, and its host is due as it was before.
--
-- KEYS   beyond the fixed ones: the hash of rows aside of each host, and the lists of rows that go back
-- ASKED  items, each: fence, key, aside = { { name, row with the reason }, … }, back = { { name, list }, … }
-- reply  {}
-- What a lease has no more stays as it is.

local refused = guard(false)
if refused then return refused end

local given_back = {}
for _, item in ipairs(ASKED.items) do
  local lease = read_lease(item.fence)
  local host = lease and read_host(lease.host)
  for _, entry in ipairs(lease and item.aside or {}) do
    local index = task_at(lease, entry[1])
    if index then
      release_task(lease, index)
      park('aside', host, entry[1], entry[2], KEYS[item.key])
    end
  end
  for _, entry in ipairs(lease and item.back or {}) do
    local index = task_at(lease, entry[1])
    if index then given_back[#given_back + 1] = { host, release_task(lease, index), KEYS[entry[2]] } end
  end
end
-- Backwards, so that the first of several is in front again.
for number = #given_back, 1, -1 do put_back(unpack(given_back[number])) end
save_leases()
save_hosts()
return '{}'
