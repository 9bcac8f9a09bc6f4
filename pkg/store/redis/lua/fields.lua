-- Fields of a hash in the order of their names, after one: outcomes, or contents in a state.
local after, limit, state, names = ARGV[1], tonumber(ARGV[2]), ARGV[3], {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if less(after, all[i]) and (state == '' or all[i + 1]:sub(1, 1) == state) then names[#names + 1] = all[i] end
end
table.sort(names, less)
for i = #names, limit + 1, -1 do names[i] = nil end
return {names, fetch(KEYS[1], names)}
