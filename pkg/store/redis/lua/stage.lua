if marks[1] then return 'SEALED' end
local due, id, fields = ARGV[3], ARGV[5], tonumber(ARGV[8])
local name, INC = HEAD:sub(#SEAL + 1), of('i')
local rec = redis.call('HMGET', INC, 's', 'd', 'x', 'k')
local staged = not rec[1] or rec[1] == 'S'
if not rec[1] then
  if ARGV[7] ~= '1' then return 'CLAIM' end
elseif rec[3] then
  return 'GONE'
elseif not staged then
  if rec[1] ~= 'H' or rec[4] ~= name or not head or head:byte(17) ~= 48 then return 'GONE' end
  if ARGV[4] == '1' then return 'CONFLICT' end
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
  setContent(id, staged and 'k' or 'p', at, math.max(chunks or 0, tonumber(ARGV[6])))
  -- The chunk itself is set where this is: what Delete removed cannot come back.
  redis.call('SET', of('k') .. id .. struct.pack('>I4', tonumber(ARGV[6]) - 1), '', 'NX')
end
setMessages(of('m'), 9, 8 + fields)
write(9 + fields)
return 'OK'
