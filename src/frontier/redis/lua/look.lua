-- What there is to do in a partition. Changes nothing but, with `judge`, what is known of the server that answers.
--
-- ARGV[3]  {count, classes, worker, request}: see shared/look.lua; judge = true now and then, so that another server,
--          a clock that was set or a key that is gone is noticed although nothing is due
-- Reply    {now, sums, quiet, due, upcoming, expired, retries, leases, expiry, waiting, visit, undelivered, parked, recalled}

local refusal = guard(ASKED.judge)
if refusal then return refusal end
return cjson.encode(look_now(ASKED))
