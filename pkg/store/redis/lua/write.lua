local NEVER = string.rep('\0', 12)
local NONE = string.rep('\0', 16)
local DUE = BASE .. 'd'

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
  redis.call('HSET', of('u'), id, state .. due .. struct.pack('>I4', chunks))
end

-- content is its state (k: kept, p: pending, d: dying), when it is due, and how many chunks it has.
local function content(id)
  local v = redis.call('HGET', of('u'), id)
  if not v then return nil end
  return v:sub(1, 1), v:sub(2, 13), (struct.unpack('>I4', v, 14))
end

function dropOutcomes(before)
  local all, gone = redis.call('HGETALL', of('o')), {}
  for i = 1, #all, 2 do
    if less(all[i + 1]:sub(1, 12), before) then gone[#gone + 1] = all[i] end
  end
  each(gone, function(...) redis.call('HDEL', of('o'), ...) end)
end

-- setMessages writes fields of a head, messages among them, from arguments of fields and values.
local function setMessages(key, first, last)
  for i = first, last, BATCH do
    redis.call('HSET', key, unpack(ARGV, i, math.min(i + BATCH - 1, last)))
  end
end
