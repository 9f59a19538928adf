-- A stretch of one list of a queue. Copies that do not count are left out. Changes nothing, also of a crawl that was moved.
--
-- KEYS     the list
-- ARGV[3]  {list = number of the key, origin, slot, rank, from, count, moving = true, rows = true for the rows themselves, name = a
--          fingerprint whose row alone is wanted}
-- Reply    {length, pages, sitemaps, ghosts = in this stretch, rows}

local refusal = guard(false)
if refusal then return refusal end

local list = KEYS[ASKED.list]
local here = place_in(ASKED.slot, ASKED.rank)
local pages, sitemaps, ghosts, rows = 0, 0, 0, {}
local origin = string.match(list, '}:q:(.*)|[^|]*|[^|]*$')
for _, stored in ipairs(redis.call('LRANGE', list, ASKED.from, ASKED.from + ASKED.count - 1)) do
  local row = unstow_row(stored, origin, ASKED.slot, ASKED.rank)
  local fields = row_fields(row)
  local place = place_of(fields.name)
  if place ~= nil and place ~= here then
    ghosts = ghosts + 1
  else
    if fields.kind == 'p' then pages = pages + 1 else sitemaps = sitemaps + 1 end
    if ASKED.rows or ASKED.name == fields.name then rows[#rows + 1] = row end
  end
end
return cjson.encode({
  length = redis.call('LLEN', list), pages = pages, sitemaps = sitemaps, ghosts = ghosts, rows = rows,
})
