-- Pages that are to be fetched again. What the next visit should know is made and read by the caller (visits.ts): one line
-- of JSON, then the row, in `visits`; the time of the visit is in `revisits` while one is planned. Here is what a sitemap
-- that names a later change does to the plan, as recrawl.ts has it, since that happens wherever URLs come in.

-- Places in the line of JSON.
local VISIT = { visits = 1, changes = 2, checked = 5, interval = 9, settled = 13 }
local HINT = {
  -- A sitemap's date may be of a whole day; a clock ahead by more than an hour is not believed.
  date_ms = 86400000, ahead_ms = 3600000,
  -- Parts of an interval: doubted pages wait for one, unchanged ones are put off by another, less is not worth moving.
  doubted = 0.25, put_off = 0.5, worth = 0.1,
}

local function hinted_time(visit, planned, modified)
  if planned <= NOW or modified > NOW + HINT.ahead_ms then return nil end
  local checked, interval = visit[VISIT.checked], visit[VISIT.interval]
  if modified > checked then
    local visits = visit[VISIT.visits]
    local doubt = visits > 1 and 1 - visit[VISIT.changes] / (visits - 1) or 0
    local soon = math.max(NOW, checked + HINT.doubted * doubt * interval)
    return soon < planned and soon or nil
  end
  if modified > checked - HINT.date_ms then return nil end
  local later = checked + interval + HINT.put_off * math.min(NOW - checked, interval)
  return later > planned + HINT.worth * interval and later or nil
end

-- A sitemap says when the page of this fingerprint was changed; `tier` is the one that it is in.
local function heed_modified(fp, modified, tier)
  local planned = redis.call('ZSCORE', REVISITS, fp)
  local stored = planned and redis.call('HGET', VISITS, fp)
  if not stored then return end
  local visit = cjson.decode(string.match(stored, '^[^\n]*'))
  planned = tonumber(planned)
  local hinted = hinted_time(visit, planned, modified)
  if hinted == nil then return end
  -- A visit that was missed is one all the same.
  local least = math.max(visit[VISIT.checked], visit[VISIT.settled]) + OPTIONS.recrawl.least[tier]
  local due = math.max(hinted, least)
  if due < planned or hinted > planned then redis.call('ZADD', REVISITS, string.format('%.0f', due), fp) end
end
