if marks[1] then return 'SEALED' end
local epoch, INC = marks[2], of('i')
local aside, due, update = how:byte(1) == 97, ARGV[4], ARGV[6] -- a
local function flag(i) return how:byte(i) == 49 end
local FOLLOWS, STAGED, CLAIMED, LISTS = 2, 3, 4, 5
local function leads(h) return h:sub(1, 16) end
local function live(h) return h:byte(17) == 48 end
local function version(h) return h:sub(18, 25) end
local function counts(h) return h:sub(26, 37) end
local function dueOf(h) return h:sub(38, 49) end

-- Change.Against says the same in Go.
local begins = false
if not head then
  if aside or version(was) ~= string.rep('\0', 8) then return 'NOWHERE' end
  begins = true
elseif aside then
  if leads(head) ~= inc or not live(head) then return 'CONFLICT' end
elseif version(head) ~= version(was) then
  return 'CONFLICT'
elseif leads(head) == inc then
  if not flag(FOLLOWS) or counts(head) ~= counts(was) then return 'INVALID' end
elseif live(head) then
  return 'CONFLICT'
else
  begins = true
end
if ARGV[5] ~= '' and epoch ~= ARGV[5] then return 'CONFLICT' end

local had, name = NEVER, nil
if begins then
  name = HEAD:sub(#SEAL + 1)
  local rec = redis.call('HMGET', INC, 's', 'd', 'x', 'k')
  if rec[1] then
    if rec[1] ~= 'S' or rec[4] ~= name then return 'CONFLICT' end
    if rec[3] then return 'GONE' end
  elseif not flag(CLAIMED) then
    return 'CLAIM'
  end
  if flag(STAGED) and redis.call('HEXISTS', of('m'), '0') == 0 then return 'GONE' end
  had = rec[2] or NEVER
elseif not aside then
  had = dueOf(head)
end

local uploads, releases, slots, at = 0, 0, 0, 8 + fields
if flag(LISTS) then
  uploads, releases, slots, at = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), at + 3
  for i = at, at + uploads - 1 do
    local state, _, chunks = content(ARGV[i])
    if not state or state == 'd' then return 'GONE' end
    local base = of('k') .. ARGV[i]
    for n = 0, chunks - 1 do
      local size = redis.pcall('STRLEN', base .. struct.pack('>I4', n))
      if type(size) ~= 'number' then return redis.error_reply('TRYAGAIN a chunk is on its way to another node') end
      if size == 0 then return 'GONE' end
    end
  end
end
local expected = at + uploads + releases
for i = expected, expected + 3 * slots - 1, 3 do
  local have = redis.call('HGET', of('s'), ARGV[i])
  if ARGV[i + 1] == '0' then
    if have then return 'CONFLICT' end
  elseif not have or have:sub(1, 16) ~= ARGV[i + 2] then
    return 'CONFLICT'
  end
end

-- All is checked: nothing below may fail.
if begins then
  if head then
    local old = leads(head)
    if dueOf(head) == NEVER or update == '' or less(update:sub(1, 12), dueOf(head)) then setDue(BASE .. 'i' .. old, old, update) end
    redis.call('HSET', BASE .. 'i' .. old, 's', 'R')
    redis.call('HDEL', HEAD, 'h', 'n', 'x')
    if redis.call('EXISTS', HEAD) == 1 then redis.call('RENAME', HEAD, BASE .. 'm' .. old) end
  else
    redis.call('ZADD', BASE .. 'l', 0, name)
  end
  redis.call('HSET', INC, 'k', name, 's', 'H')
  local odd = nil -- what was staged is not what the head says
  if redis.call('EXISTS', of('m')) == 1 then
    redis.call('RENAME', of('m'), HEAD)
    local n = struct.unpack('>I4', was, 26)
    if redis.call('HLEN', HEAD) ~= n or redis.call('HEXISTS', HEAD, string.format('%d', n - 1)) == 0 then odd = last(HEAD) end
  end
  if odd or redis.call('STRLEN', of('f')) / 16 ~= struct.unpack('>I4', was, 34) then redis.call('HSET', HEAD, 'x', odd or 0) end
end
if not aside then
  if had ~= dueOf(ARGV[3]) then setDue(INC, inc, due) end
  redis.call('HSET', HEAD, 'h', ARGV[3])
end
setMessages(HEAD, 8, 7 + fields)
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
if marks[3] and not aside then redis.pcall(PUBLISH, SEAL, HEAD) end
return 'OK'
