-- Slots by prefix of the name, the first of them in byte order.
local prefix, limit, names = ARGV[1], tonumber(ARGV[2]), {}
for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do
  if name:sub(1, #prefix) == prefix then names[#names + 1] = name end
end
if #names > limit then
  table.sort(names, less)
  for i = #names, limit + 1, -1 do names[i] = nil end
end
return {names, fetch(KEYS[1], names)}
