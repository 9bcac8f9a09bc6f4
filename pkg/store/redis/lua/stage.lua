local inc, due, id = ARGV[3], ARGV[4], ARGV[6]
local name = HEAD:sub(#SEAL + 1)
local rec = redis.call('HMGET', INC, 's', 'd', 'x', 'k')
local staged = not rec[1] or rec[1] == 'S'
if not rec[1] then
  if ARGV[8] ~= '1' then return 'CLAIM' end
elseif rec[3] then
  return 'GONE'
elseif not staged then
  if rec[1] ~= 'H' or rec[4] ~= name or redis.call('HGET', HEAD, 's') ~= '0' then return 'GONE' end
  if ARGV[5] == '1' then return 'CONFLICT' end
elseif rec[4] ~= name then
  return 'CONFLICT'
end
local state, waits, chunks
if id ~= '' then
  state, waits, chunks = content(id)
  if state == 'd' then return 'GONE' end
  if state == 'k' and not staged then return 'CONFLICT' end
end

local at = due:sub(1, 12)
if staged then
  redis.call('HSET', INC, 'k', name, 's', 'S')
  if not rec[2] or less(rec[2], at) then setDue(INC, inc, due) end
end
if id ~= '' then
  if waits and less(at, waits) then
    at = waits
  elseif not staged then
    redis.call('ZADD', DUE, due:sub(13), inc .. id)
  end
  setContent(id, staged and 'k' or 'p', at, math.max(chunks or 0, tonumber(ARGV[7])))
  -- The chunk itself is set where this is: what Delete removed cannot come back.
  redis.call('SET', K.k, '', 'NX')
end
write(9)
return 'OK'
