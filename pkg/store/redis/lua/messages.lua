-- Messages of a range up to a number or a sum of tokens.
local first, past, limit, tokens, reverse = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] == '1'
past = math.min(past, size(KEYS[1]))
local found, sum, block, more = {}, 0, 16, true
local function take(message)
  if (limit > 0 and #found == limit) or (tokens > 0 and sum >= tokens) then return false end
  sum = sum + struct.unpack('>i4', message, 9)
  found[#found + 1] = message
  return true
end
while more and first < past do
  local from, to = first, math.min(first + block, past)
  if reverse then from, to = math.max(past - block, first), past end
  local messages = range(KEYS[1], from, to)
  local a, z, step = 1, to - from, 1
  if reverse then a, z, step = z, a, -1 end
  for i = a, z, step do
    more = not messages[i] or take(messages[i])
    if not more then break end
  end
  if reverse then past = from else first = to end
  block = math.min(4 * block, 256)
end
return found
