-- Messages and edits of the commits after one, whole commits, oldest first.
local version, limit = ARGV[1], tonumber(ARGV[2])
local function log(key, base)
  local l = {key = key, size = redis.call('STRLEN', key) / 16, base = base, found = {}}
  local from, text = 0, ''
  function l.commit(i)
    local at = (i - from) * 16
    if at < 0 or at >= #text then
      from, text, at = i, redis.call('GETRANGE', key, i * 16, i * 16 + 64 * 16 - 1), 0
    end
    return text:sub(at + 1, at + 8)
  end
  local low, high = 0, l.size
  while low < high do
    local middle = math.floor((low + high) / 2)
    if less(version, redis.call('GETRANGE', key, middle * 16, middle * 16 + 7)) then high = middle else low = middle + 1 end
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
local function take(l, n)
  for i = l.next, l.next + n - 1 do l.found[#l.found + 1] = string.format('%d', i + l.base) end
  l.next = l.next + n
end
local messages, edits = log(KEYS[2], 0), log(KEYS[4], 1)
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
  take(messages, m)
  take(edits, e)
  taken = taken + m + e
end
return {fetch(KEYS[1], messages.found), fetch(KEYS[3], edits.found)}
