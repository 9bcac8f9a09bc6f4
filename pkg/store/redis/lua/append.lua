local how, expect, inc, due = ARGV[3], ARGV[4], ARGV[5], ARGV[10]
local head = redis.call('HMGET', HEAD, 'i', 'v', 's', 'c', 'd')

-- Most commits add to a live conversation and look at nothing else: they need none of what is below, and not even its functions.
if how:sub(1, 2) == 'c1' and how:sub(5, 6) == '00' and head[1] == inc and head[2] == expect and head[3] == '0' and head[4] == ARGV[6]
  and (head[5] or '') == due:sub(1, 12) and (ARGV[12] == '' or ARGV[12] == epoch) then
  redis.call('HSET', HEAD, 'v', ARGV[7], 'c', ARGV[8], 'h', ARGV[9])
  write(13)
  redis.pcall(how:sub(7), SEAL:sub(1, -2), HEAD:sub(#SEAL + 1)) -- the commit stands, told or not
  return 'OK'
end
