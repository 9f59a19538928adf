-- What a worker says of a host: blocks, health, address.
--
-- change: until (a block, 0 for no longer), reason (in words) or clear (no reason any more), health = { strikes, streak,
-- streak_since, blocked_at, latency }, address; what is absent stays as it is.

-- What was worked out from a health before the last block knows nothing of that block: then only a block counts.
local function change_host(host, change)
  local health = change.health
  local is_outdated = health and health[4] < host.blocked_at
  if change['until'] then host.blocked_until = change['until'] end
  if change.reason then
    host.blocked_reason = change.reason
  elseif change.clear and not is_outdated then
    host.blocked_reason = nil
  end
  if health and not is_outdated then
    host.strikes, host.streak, host.streak_since, host.blocked_at, host.latency = unpack(health)
  end
  if change.address then host.address = change.address end
  touch(host)
end

-- Answers that were under way together may ask for different pauses: the longest counts.
local function change_host_after(host, change)
  if change['until'] and change['until'] < host.blocked_until then
    change['until'], change.reason, change.clear = nil, nil, nil
  end
  change_host(host, change)
end
