-- A head begins with its guard (keys.go).
local how, was, fields = ARGV[1], ARGV[2], tonumber(ARGV[7])

-- Most commits add to a live conversation and look at nothing else: they need none of what is below, and not even its functions.
local plain = how:byte(1) == 112 and head and head:find(was, 1, true) == 1 and not marks[1] and (ARGV[5] == '' or ARGV[5] == marks[2]) -- p
if plain then
  redis.call('HSET', HEAD, 'h', ARGV[3], unpack(ARGV, 8, 7 + fields))
  if #ARGV == 7 + fields then
    if marks[3] then redis.pcall(PUBLISH, SEAL, HEAD) end -- the commit stands, told or not
    return 'OK'
  end
end
