-- All seeds that were ever given, in the order in which they came.
--
-- KEYS[1]  sorted set: URL → its number
-- ARGV[2]  JSON: urls: to be added; or from and most: to be read
-- Reply    {"urls":[…]}
-- Guarantee: a seed keeps its number, however often it is given.

local asked = cjson.decode(ARGV[2])
if asked.urls then
  local number = redis.call('ZCARD', KEYS[1])
  for _, url in ipairs(asked.urls) do
    number = number + redis.call('ZADD', KEYS[1], 'NX', number, url)
  end
  return '{"urls":[]}'
end
return cjson.encode({ urls = redis.call('ZRANGE', KEYS[1], asked.from, asked.from + asked.most - 1) })
