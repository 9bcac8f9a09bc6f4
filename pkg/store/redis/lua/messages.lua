-- Messages of a range up to a number or a sum of tokens, found by the entries beside them.
local first, past, limit, tokens, reverse = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] == '1'
past = math.min(past, redis.call('STRLEN', KEYS[2]) / 16)
local found, sum = {}, 0
local function take(entries, i)
  if entries:byte(i * 16 + 9) ~= 1 then return true end
  if (limit > 0 and #found == limit) or (tokens > 0 and sum >= tokens) then return false end
  sum = sum + struct.unpack('>i4', entries, i * 16 + 13)
  return true, true
end
local block = 256
local more = true
while more and first < past do
  local from, to = first, math.min(first + block, past)
  if reverse then from, to = math.max(past - block, first), past end
  local entries = redis.call('GETRANGE', KEYS[2], from * 16, to * 16 - 1)
  local a, z, step = 0, to - from - 1, 1
  if reverse then a, z, step = z, a, -1 end
  for i = a, z, step do
    local yes
    more, yes = take(entries, i)
    if not more then break end
    if yes then found[#found + 1] = string.format('%d', from + i) end
  end
  if reverse then past = from else first = to end
end
return fetch(KEYS[1], found)
