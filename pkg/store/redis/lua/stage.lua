local inc, name, due, score, id = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[7]
local rec = redis.call('HMGET', INC, 's', 'd', 'x', 'k')
local staged = not rec[1] or rec[1] == 'S'
if not rec[1] then
  if ARGV[9] ~= '1' then return 'CLAIM' end
elseif rec[3] then
  return 'GONE'
elseif not staged then
  if rec[1] ~= 'H' or rec[4] ~= name or redis.call('HGET', HEAD, 's') ~= '0' then return 'GONE' end
  if ARGV[6] == '1' then return 'CONFLICT' end
elseif rec[4] ~= name then
  return 'CONFLICT'
end
local state, waits, chunks
if id ~= '' then
  state, waits, chunks = content(id)
  if state == 'd' then return 'GONE' end
  if state == 'k' and not staged then return 'CONFLICT' end
end

if staged then
  redis.call('HSET', INC, 'k', name, 's', 'S')
  if not rec[2] or less(rec[2], due) then moveDue(INC, inc, rec[2], due, score) end
end
if id ~= '' then
  if waits and less(due, waits) then due = waits else
    if not staged then redis.call('ZADD', DUE, score, inc .. id) end
  end
  setContent(id, staged and 'k' or 'p', due, math.max(chunks or 0, tonumber(ARGV[8])))
  -- The chunk itself is set where this is: what Delete removed cannot come back.
  redis.call('SET', KEYS[17], '', 'NX')
end
write(10)
return 'OK'
