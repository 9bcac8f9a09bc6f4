if marks[1] then return 'SEALED' end
local upload, keep, left = ARGV[3], ARGV[4] == '1', tonumber(ARGV[5])
local name, INC = HEAD:sub(#SEAL + 1), of('i')
local rec = redis.call('HMGET', INC, 's', 'd', 'k')
if not rec[1] then return 'ABSENT' end
if rec[3] ~= name then return {rec[3]} end
local leads = rec[1] == 'H'
local live = leads and head and head:byte(17) == 48

-- clearContent removes chunks of a content, and it when it has no more.
local function clearContent(id, state, due, chunks)
  local cut = math.min(left, chunks)
  for i = chunks - cut, chunks - 1 do
    redis.call('UNLINK', of('k') .. id .. struct.pack('>I4', i))
  end
  left = left - cut
  if cut < chunks then
    setContent(id, state, due, chunks - cut)
    return false
  end
  redis.call('HDEL', of('u'), id)
  redis.call('ZREM', DUE, inc .. id)
  return true
end

if upload ~= '' then
  local state, due, chunks = content(upload)
  if not state then return 'DONE' end
  if live and state == 'k' then return 'CONFLICT' end
  if state == 'k' then
    due = rec[2] or NEVER
    if due ~= NEVER then
      redis.call('ZADD', DUE, redis.call('ZSCORE', DUE, inc .. NONE), inc .. upload)
    end
  end
  if state ~= 'd' then setContent(upload, 'd', due, chunks) end
  return clearContent(upload, 'd', due, chunks) and 'DONE' or 'MORE'
end

if live then return 'CONFLICT' end
redis.call('HSET', INC, 'x', '1')
local tombstone = leads and keep
if leads then redis.call('HDEL', HEAD, 'n') end
redis.call('UNLINK', of('f'), of('x'), of('y'))

local function clear(key)
  local n = redis.call('HLEN', key)
  if n == 0 or left <= 0 then return end
  if n <= left then
    redis.call('UNLINK', key)
  else
    each(redis.call('HRANDFIELD', key, left), function(...) redis.call('HDEL', key, ...) end)
  end
  left = left - n
end

-- clearMessages leaves the head of what a name leads to.
local function clearMessages()
  local n = redis.call('HLEN', HEAD) - 1
  if n <= 0 or left <= 0 then return end
  if n <= left then
    redis.call('UNLINK', HEAD)
    redis.call('HSET', HEAD, 'h', head)
  else
    each(redis.call('HRANDFIELD', HEAD, left), function(...) redis.call('HDEL', HEAD, ...) end)
    redis.call('HSET', HEAD, 'h', head)
  end
  left = left - n
end

if leads then clearMessages() else clear(of('m')) end
clear(of('n'))
clear(of('s'))
if not tombstone then clear(of('o')) end
if left > 0 then
  left = left - redis.call('ZREMRANGEBYRANK', of('g'), 0, left - 1)
end
while left > 0 do
  local ids = redis.call('HRANDFIELD', of('u'), math.min(left, 100))
  if #ids == 0 then break end
  for _, id in ipairs(ids) do
    if left > 0 and clearContent(id, content(id)) then left = left - 1 end
  end
end
if left <= 0 then return 'MORE' end
if tombstone then return 'DONE' end
if leads then
  redis.call('DEL', HEAD)
  redis.call('ZREM', BASE .. 'l', name)
end
redis.call('ZREM', DUE, inc .. NONE)
redis.call('DEL', INC)
return 'REMOVED'
