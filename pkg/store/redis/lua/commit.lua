local aside, expect, inc = ARGV[2] == 'a', ARGV[3], ARGV[4]
local name, base, due, update = ARGV[19], ARGV[20], ARGV[13], ARGV[15]

-- Change.Against says the same in Go.
local head = redis.call('HMGET', HEAD, 'i', 'v', 's', 'm', 'e')
local begins = false
if not head[1] then
  if aside or expect ~= '0' then return 'NOWHERE' end
  begins = true
elseif aside then
  if head[1] ~= inc or head[3] ~= '0' then return 'CONFLICT' end
elseif head[2] ~= expect then
  return 'CONFLICT'
elseif head[1] == inc then
  if ARGV[5] ~= '1' or head[4] ~= ARGV[6] or head[5] ~= ARGV[7] then return 'INVALID' end
elseif head[3] == '0' then
  return 'CONFLICT'
else
  begins = true
end

if ARGV[27] ~= '' and redis.call('GET', KEYS[17]) ~= ARGV[27] then return 'CONFLICT' end

local rec
if not aside then
  rec = redis.call('HMGET', INC, 's', 'd', 'x', 'k')
end
if begins then
  if rec[1] then
    if rec[1] ~= 'S' or rec[4] ~= name then return 'CONFLICT' end
    if rec[3] then return 'GONE' end
  elseif ARGV[18] ~= '1' then
    return 'CLAIM'
  end
  if ARGV[17] == '1' and redis.call('HEXISTS', MESSAGES, '0') == 0 then return 'GONE' end
end

local uploads, slots, releases = tonumber(ARGV[24]), tonumber(ARGV[25]), tonumber(ARGV[26])
local at = 28
for i = at, at + uploads - 1 do
  local state = content(ARGV[i])
  if not state or state == 'd' then return 'GONE' end
end
local expected = at + uploads + releases
for i = expected, expected + 3 * slots - 1, 3 do
  local have = redis.call('HGET', SLOTS, ARGV[i])
  if ARGV[i + 1] == '0' then
    if have then return 'CONFLICT' end
  elseif not have or have:sub(1, 16) ~= ARGV[i + 2] then
    return 'CONFLICT'
  end
end

-- All is checked: nothing below may fail.
if begins then
  if head[1] then
    local old = base .. 'i' .. head[1]
    local was = redis.call('HGET', old, 'd')
    if not was or update == '' or less(update, was) then
      moveDue(old, head[1], was, update, ARGV[16])
    end
    redis.call('HSET', old, 's', 'R')
    redis.call('DEL', HEAD)
  else
    redis.call('ZADD', NAMES, 0, name)
  end
  redis.call('HSET', INC, 'k', name, 's', 'H')
end
if not aside then
  moveDue(INC, inc, rec[2], due, ARGV[14])
  redis.call('HSET', HEAD, 'i', inc, 'v', ARGV[8], 's', ARGV[9], 'm', ARGV[10], 'e', ARGV[11], 'h', ARGV[12])
end
write(expected + 3 * slots)
for i = at, at + uploads - 1 do
  local state, waits, chunks = content(ARGV[i])
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
    setContent(ARGV[i], 'd', update, chunks or 0)
    redis.call('ZADD', DUE, ARGV[16], inc .. ARGV[i])
  end
end
if not aside then redis.call(ARGV[21], ARGV[22], ARGV[23]) end
return 'OK'
