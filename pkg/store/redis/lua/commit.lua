local aside, update = how:byte(1) == 97, ARGV[11] -- a
local function flag(i) return how:byte(i) == 49 end
local FOLLOWS, STAGED, CLAIMED, LISTS = 2, 3, 4, 5

-- Change.Against says the same in Go.
local begins = false
if not head[1] then
  if aside or expect ~= '0' then return 'NOWHERE' end
  begins = true
elseif aside then
  if head[1] ~= inc or head[3] ~= '0' then return 'CONFLICT' end
elseif head[2] ~= expect then
  return 'CONFLICT'
elseif head[1] == inc then
  if not flag(FOLLOWS) or head[4] ~= ARGV[6] then return 'INVALID' end
elseif head[3] == '0' then
  return 'CONFLICT'
else
  begins = true
end
if ARGV[12] ~= '' and epoch ~= ARGV[12] then return 'CONFLICT' end

local was, name = head[5], nil
if begins then
  name = HEAD:sub(#SEAL + 1)
  local rec = redis.call('HMGET', INC, 's', 'd', 'x', 'k')
  if rec[1] then
    if rec[1] ~= 'S' or rec[4] ~= name then return 'CONFLICT' end
    if rec[3] then return 'GONE' end
  elseif not flag(CLAIMED) then
    return 'CLAIM'
  end
  if flag(STAGED) and redis.call('HEXISTS', K.m, '0') == 0 then return 'GONE' end
  was = rec[2]
end

local uploads, releases, slots, at = 0, 0, 0, 13
if flag(LISTS) then
  uploads, releases, slots, at = tonumber(ARGV[13]), tonumber(ARGV[14]), tonumber(ARGV[15]), 16
  for i = at, at + uploads - 1 do
    local state, _, chunks = content(ARGV[i])
    if not state or state == 'd' then return 'GONE' end
    local base = SEAL:sub(1, -2) .. 'k' .. inc .. ARGV[i]
    for n = 0, chunks - 1 do
      local size = redis.pcall('STRLEN', base .. struct.pack('>I4', n))
      if type(size) ~= 'number' then return redis.error_reply('TRYAGAIN a chunk is on its way to another node') end
      if size == 0 then return 'GONE' end
    end
  end
end
local expected = at + uploads + releases
for i = expected, expected + 3 * slots - 1, 3 do
  local have = redis.call('HGET', K.s, ARGV[i])
  if ARGV[i + 1] == '0' then
    if have then return 'CONFLICT' end
  elseif not have or have:sub(1, 16) ~= ARGV[i + 2] then
    return 'CONFLICT'
  end
end

-- All is checked: nothing below may fail.
if begins then
  if head[1] then
    local old = SEAL:sub(1, -2) .. 'i' .. head[1]
    if not head[5] or update == '' or less(update:sub(1, 12), head[5]) then setDue(old, head[1], update) end
    redis.call('HSET', old, 's', 'R')
    redis.call('DEL', HEAD)
  else
    redis.call('ZADD', NAMES, 0, name)
  end
  redis.call('HSET', INC, 'k', name, 's', 'H')
  redis.call('HSET', HEAD, 'i', inc)
end
if not aside then
  if (was or '') ~= due:sub(1, 12) then
    setDue(INC, inc, due)
    if due == '' then redis.call('HDEL', HEAD, 'd') end
  end
  if due ~= '' and (begins or was ~= due:sub(1, 12)) then redis.call('HSET', HEAD, 'd', due:sub(1, 12)) end
  redis.call('HSET', HEAD, 'v', ARGV[7], 'c', ARGV[8], 'h', ARGV[9], 's', how:sub(6, 6))
end
write(expected + 3 * slots)
for i = at, at + uploads - 1 do
  local state, _, chunks = content(ARGV[i])
  if state == 'p' then
    setContent(ARGV[i], 'k', NEVER, chunks)
    redis.call('ZREM', DUE, inc .. ARGV[i])
  end
end
for i = at + uploads, expected - 1 do
  local _, _, chunks = content(ARGV[i])
  if update == '' then
    setContent(ARGV[i], 'd', NEVER, chunks or 0)
    redis.call('ZREM', DUE, inc .. ARGV[i])
  else
    setContent(ARGV[i], 'd', update:sub(1, 12), chunks or 0)
    redis.call('ZADD', DUE, update:sub(13), inc .. ARGV[i])
  end
end
-- The commit stands, told or not.
if not aside then redis.pcall(how:sub(7), SEAL:sub(1, -2), name or HEAD:sub(#SEAL + 1)) end
return 'OK'
