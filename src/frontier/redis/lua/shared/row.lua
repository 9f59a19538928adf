-- Rows of queues as row.ts writes them: fields joined by line feeds, of which scripts know the first and leave the rest
-- as it is. Slots are in words outside of a row, and one letter inside.

local SLOT_OF_LETTER = { h = 'high', m = 'medium', l = 'low', a = 'auto' }

-- The fingerprint, in decimal.
local function row_name(row)
  return string.match(row, '^[^\n]+')
end

local function row_fields(row)
  local name, kind, slot, rank, depth, attempts = string.match(row, '^([^\n]+)\n(%a)\n(%a)\n(%d+)\n(%d+)\n(%d+)\n')
  return {
    name = name, kind = kind, slot = SLOT_OF_LETTER[slot], rank = tonumber(rank), depth = tonumber(depth),
    attempts = tonumber(attempts),
  }
end

-- The row with other values for some of: slot, rank, depth, attempts, reason.
local function row_with(row, new)
  local name, kind, slot, rank, depth, attempts, middle, reason, rest = string.match(
    row, '^([^\n]+)\n(%a)\n(%a)\n(%d+)\n(%d+)\n(%d+)\n([^\n]*\n[^\n]*\n[^\n]*\n[^\n]*)\n([^\n]*)\n(.*)$')
  return table.concat({
    name, kind, new.slot and string.sub(new.slot, 1, 1) or slot, string.format('%.0f', new.rank or tonumber(rank)),
    string.format('%.0f', new.depth or tonumber(depth)), string.format('%.0f', new.attempts or tonumber(attempts)),
    middle, new.reason or reason, rest,
  }, '\n')
end

-- Scheme, host and port of the row's URL.
local function row_origin(row)
  return string.match(row, '^' .. string.rep('[^\n]*\n', 11) .. '(%a+://[^/\n]*)')
end

-- A row as it stands in a list, without what the list's name says and what nearly all have in common: its name, its
-- depth (behind an `s` for a sitemap), the hour, whatever is not as usual, the path of its URL, and its referrer.
local function stow_row(row)
  local name, kind, depth, attempts, hour, redirects, nesting, via, reason, rest = string.match(row,
    '^([^\n]+)\n(%a)\n%a\n%d+\n(%d+)\n(%d+)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n%a+://[^/\n]*(.*)$')
  local unusual = ''
  if attempts ~= '0' or redirects ~= '0' or nesting ~= '0' or via ~= 'l' or reason ~= '' then
    unusual = table.concat({ attempts, redirects, nesting, via, reason }, ' ')
  end
  return table.concat({ name, kind == 's' and 's' .. depth or depth, hour, unusual, rest }, '\n')
end
local function unstow_row(stored, origin, slot, rank)
  local name, kind, depth, hour, unusual, rest = string.match(stored, '^([^\n]+)\n(s?)(%d+)\n([^\n]*)\n([^\n]*)\n(.*)$')
  local attempts, redirects, nesting, via, reason = '0', '0', '0', 'l', ''
  if unusual ~= '' then
    attempts, redirects, nesting, via, reason = string.match(unusual, '^(%d+) (%d+) (%d+) (%a) (.*)$')
  end
  return table.concat({
    name, kind == 's' and 's' or 'p', string.sub(slot, 1, 1), string.format('%.0f', rank), depth, attempts, hour,
    redirects, nesting, via, reason, origin .. rest,
  }, '\n')
end
