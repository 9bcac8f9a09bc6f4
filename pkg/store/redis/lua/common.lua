-- Byte order: Lua's own comparison follows the server's locale.
local function less(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- What unpack can put on the stack is bounded.
local BATCH = 1000

local function each(values, call)
  for i = 1, #values, BATCH do
    call(unpack(values, i, math.min(i + BATCH - 1, #values)))
  end
end

-- last is where staged messages end.
local function last(key)
  local n = 0
  for _, field in ipairs(redis.call('HKEYS', key)) do n = math.max(n, tonumber(field) + 1) end
  return n
end

local function fetch(key, fields)
  local out = {}
  each(fields, function(...)
    for _, value in ipairs({redis.call('HMGET', key, ...)}) do
      for _, v in ipairs(value) do out[#out + 1] = v end
    end
  end)
  return out
end
