local KINDS = ARGV[2]
-- KEYS are the seal, the head, the incarnation, what is due, the names; then those of the records that the call is about, whose kinds are
-- the letters of KINDS (keys.go).
local SEAL, HEAD, INC, DUE, NAMES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local K = {}
for i = 1, #KINDS do K[KINDS:sub(i, i)] = KEYS[5 + i] end
local NEVER = string.rep('\0', 12)
local NONE = string.rep('\0', 16)

-- ARGV[1] is what tells the client that the command is under way.
local sealed, epoch = unpack(redis.call('MGET', SEAL, K.e or SEAL))
if sealed then return 'SEALED' end

-- A time that a client gives is twelve bytes and its score, or nothing for never.
local function setDue(key, id, due)
  if due == '' then
    redis.call('HDEL', key, 'd')
    redis.call('ZREM', DUE, id .. NONE)
  else
    redis.call('HSET', key, 'd', due:sub(1, 12))
    redis.call('ZADD', DUE, due:sub(13), id .. NONE)
  end
end

local function setContent(id, state, due, chunks)
  redis.call('HSET', K.u, id, state .. due .. struct.pack('>I4', chunks))
end

-- content is its state (k: kept, p: pending, d: dying), when it is due, and how many chunks it has.
local function content(id)
  local v = redis.call('HGET', K.u, id)
  if not v then return nil end
  return v:sub(1, 1), v:sub(2, 13), (struct.unpack('>I4', v, 14))
end

local function dropOutcomes(before)
  local all, gone = redis.call('HGETALL', K.o), {}
  for i = 1, #all, 2 do
    if less(all[i + 1]:sub(1, 12), before) then gone[#gone + 1] = all[i] end
  end
  each(gone, function(...) redis.call('HDEL', K.o, ...) end)
end

local function write(i)
  while i <= #ARGV do
    local op, key = ARGV[i], K[ARGV[i + 1]] or HEAD
    if op == 'h' then
      redis.call('HSET', key, ARGV[i + 2], ARGV[i + 3])
      i = i + 4
    elseif op == 'r' then
      redis.call('SETRANGE', key, ARGV[i + 2], ARGV[i + 3])
      i = i + 4
    elseif op == 'z' then
      redis.call('ZADD', key, ARGV[i + 2], ARGV[i + 3])
      i = i + 4
    elseif op == 'd' then
      redis.call('HDEL', key, ARGV[i + 2])
      i = i + 3
    elseif op == 'm' then
      redis.call('ZREMRANGEBYLEX', key, '[' .. ARGV[i + 2], '(' .. ARGV[i + 3])
      redis.call('ZADD', key, 0, ARGV[i + 4])
      i = i + 5
    elseif op == 'l' then
      redis.call('ZREMRANGEBYLEX', key, '-', '(' .. ARGV[i + 2])
      i = i + 3
    else
      dropOutcomes(ARGV[i + 2])
      i = i + 3
    end
  end
end
