local SEAL, HEAD, INC, DUE, NAMES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local MESSAGES, COMMITS, EDITS, EDITCOMMITS, NARROW, WIDE = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local MANIFESTS, OUTCOMES, SLOTS, CONTENTS, CHUNKS = KEYS[12], KEYS[13], KEYS[14], KEYS[15], KEYS[16]
local NONE = string.rep('\0', 16)
local NEVER = string.rep('\0', 12)

-- ARGV[1] is what tells the client that the command is under way.
if redis.call('EXISTS', SEAL) == 1 then return 'SEALED' end

-- moveDue makes the incarnation due at a time; the empty one is never.
local function moveDue(key, id, was, due, score)
  if (was or '') == due then return end
  if due == '' then
    redis.call('HDEL', key, 'd')
    redis.call('ZREM', DUE, id .. NONE)
  else
    redis.call('HSET', key, 'd', due)
    redis.call('ZADD', DUE, score, id .. NONE)
  end
end

local function setContent(id, state, due, chunks)
  redis.call('HSET', CONTENTS, id, state .. due .. struct.pack('>I4', chunks))
end

-- content is its state (k: kept, p: pending, d: dying), when it is due, and how many chunks it has.
local function content(id)
  local v = redis.call('HGET', CONTENTS, id)
  if not v then return nil end
  return v:sub(1, 1), v:sub(2, 13), (struct.unpack('>I4', v, 14))
end

local function dropOutcomes(before)
  local all, gone = redis.call('HGETALL', OUTCOMES), {}
  for i = 1, #all, 2 do
    if less(all[i + 1]:sub(1, 12), before) then gone[#gone + 1] = all[i] end
  end
  each(gone, function(...) redis.call('HDEL', OUTCOMES, ...) end)
end

local function write(i)
  while i <= #ARGV do
    local op, key = ARGV[i], KEYS[tonumber(ARGV[i + 1])]
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
