-- What a robots.txt came to, for its own lane, and errands: a robots.txt that moved is fetched where it moved to, in that
-- host's turn. The origin's host may be in another partition than the one that was asked; then the result, or the errand,
-- is a message, and these functions take it in.

-- item: host, origin, policy, and outcome: 'moved'; 'retry' with not_before; 'done' with record (JSON of all but its text),
-- body, expires, crawl_delay and version, all of them absent when nothing is to be kept.
local function robots_in(item)
  local host, lane = settle_in(item.host, item.origin)
  apply_policy(host, item.policy)
  lane.moved = nil
  if item.outcome == 'moved' then
    lane.moved = true
  elseif item.outcome == 'retry' then
    lane.not_before = item.not_before
    lane.attempts = lane.attempts + 1
  elseif item.record then
    lane.robots = item.record
    lane.expires = item.expires
    lane.crawl_delay = item.crawl_delay
    lane.version = item.version
    lane.attempts = 0
    lane.not_before = 0
    lane.robots_unused = true
    if item.body and item.body ~= '' then
      redis.call('HSET', ROBOTS, item.origin, item.body)
    else
      redis.call('HDEL', ROBOTS, item.origin)
    end
  end
  touch(host)
end

-- item: host and at (the origin that is to be asked), policy, origin (for which), url, redirects, attempts. One errand for
-- an origin is enough: a later one replaces it.
local function errand_in(item)
  local host = settle_in(item.host, item.at)
  apply_policy(host, item.policy)
  for index, errand in ipairs(host.errands) do
    if errand.origin == item.origin and not errand.leased then
      table.remove(host.errands, index)
      break
    end
  end
  host.errands[#host.errands + 1] = {
    origin = item.origin, url = item.url, redirects = item.redirects, attempts = item.attempts,
  }
  touch(host)
end
