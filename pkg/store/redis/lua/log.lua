-- size is where messages end: the head says it, and what they were staged with if that is more.
local function size(key)
  local v = redis.call('HMGET', key, 'h', 'x')
  if not v[1] then return last(key) end
  return math.max(struct.unpack('>I4', v[1], 26), tonumber(v[2] or 0))
end

-- range reads messages by index, which begin with commit and tokens: what is not there is false.
local function range(key, first, past)
  local fields = {}
  for i = first, past - 1 do fields[#fields + 1] = string.format('%d', i) end
  if #fields == 0 then return fields end
  return redis.call('HMGET', key, unpack(fields))
end
