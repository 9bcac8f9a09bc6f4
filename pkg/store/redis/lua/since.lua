-- Messages and edits of the commits after one, whole commits, oldest first.
local version, limit = ARGV[1], tonumber(ARGV[2])
local BLOCK = 64
local NOTHING = string.rep('\0', 8)

-- log goes through records in their order: commits gives those of some, of what begins with a first and ends before a past one.
local function log(n, base, commits)
  local l, from, block = {size = n, found = {}}, 0, {}
  function l.commit(i)
    if i < from or i >= from + #block then
      from, block = i, commits(i, math.min(i + BLOCK, n))
    end
    return block[i - from + 1]
  end
  function l.take(k)
    for i = l.next, l.next + k - 1 do l.found[#l.found + 1] = string.format('%d', i + base) end
    l.next = l.next + k
  end
  -- Most ask for the newest.
  local low, high, step = n, n, 1
  while low > 0 do
    low = math.max(low - step, 0)
    if not less(version, commits(low, low + 1)[1]) then
      low = low + 1
      break
    end
    high, step = low, step * 2
  end
  while low < high do
    local middle = math.floor((low + high) / 2)
    if less(version, commits(middle, middle + 1)[1]) then high = middle else low = middle + 1 end
  end
  l.next = low
  return l
end

-- run is how many records of a log a commit made, from where it is.
local function run(l, commit)
  local n = 0
  while l.next + n < l.size and l.commit(l.next + n) == commit do n = n + 1 end
  return n
end

local messages = log(size(KEYS[1]), 0, function(first, past)
  local found = range(KEYS[1], first, past)
  for i, message in ipairs(found) do found[i] = message and message:sub(1, 8) or NOTHING end
  return found
end)
local edits = log(redis.call('STRLEN', KEYS[3]) / 16, 1, function(first, past)
  local entries, found = redis.call('GETRANGE', KEYS[3], first * 16, past * 16 - 1), {}
  for i = 1, past - first do found[i] = entries:sub(i * 16 - 15, i * 16 - 8) end
  return found
end)
local taken = 0
while messages.next < messages.size or edits.next < edits.size do
  local commit
  if messages.next < messages.size then commit = messages.commit(messages.next) end
  if edits.next < edits.size then
    local other = edits.commit(edits.next)
    if not commit or less(other, commit) then commit = other end
  end
  local m, e = run(messages, commit), run(edits, commit)
  if taken > 0 and taken + m + e > limit then break end
  messages.take(m)
  edits.take(e)
  taken = taken + m + e
end
return {fetch(KEYS[1], messages.found), fetch(KEYS[2], edits.found)}
