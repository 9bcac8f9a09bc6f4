-- Edits of a range of sequence numbers: all of them, or those that may touch some messages.
local after, upto = tonumber(ARGV[1]), tonumber(ARGV[2])
local size = redis.call('STRLEN', KEYS[2]) / 16
if upto == 0 or upto > size then upto = size end
local seqs = {}
if #ARGV == 2 then
  for seq = math.max(after + 1, 1), upto do seqs[#seqs + 1] = seq end
else
  local seen = {}
  local function add(found)
    for _, s in ipairs(found) do
      local seq = tonumber(s)
      if seq > after and seq <= upto and not seen[seq] then
        seen[seq] = true
        seqs[#seqs + 1] = seq
      end
    end
  end
  add(redis.call('ZRANGEBYSCORE', KEYS[4], '(' .. ARGV[1], upto))
  for i = 3, #ARGV, 2 do add(redis.call('ZRANGEBYSCORE', KEYS[3], ARGV[i], '(' .. ARGV[i + 1])) end
  table.sort(seqs)
end
for i, seq in ipairs(seqs) do seqs[i] = string.format('%d', seq) end
return fetch(KEYS[1], seqs)
