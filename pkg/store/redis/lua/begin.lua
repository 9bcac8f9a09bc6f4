local KINDS = ARGV[2]
-- KEYS are the seal, the head, the incarnation, what is due, the names; then those of the records that the call is about, whose kinds are
-- the letters of KINDS (keys.go).
local SEAL, HEAD, INC, DUE, NAMES = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local K = {h = HEAD}
for i = 1, #KINDS do K[KINDS:sub(i, i)] = KEYS[5 + i] end

local dropOutcomes

-- write takes the steps that the arguments end with.
local function write(i)
  while i <= #ARGV do
    local op, key = ARGV[i], K[ARGV[i + 1]]
    if op == 'h' then
      redis.call('HSET', key, ARGV[i + 2], ARGV[i + 3])
      i = i + 4
    elseif op == 'r' then
      redis.call('SETRANGE', key, ARGV[i + 2], ARGV[i + 3])
      i = i + 4
    elseif op == 'z' then
      redis.call('ZADD', key, ARGV[i + 2], ARGV[i + 3])
      i = i + 4
    elseif op == 'd' then
      redis.call('HDEL', key, ARGV[i + 2])
      i = i + 3
    elseif op == 'm' then
      redis.call('ZREMRANGEBYLEX', key, '[' .. ARGV[i + 2], '(' .. ARGV[i + 3])
      redis.call('ZADD', key, 0, ARGV[i + 4])
      i = i + 5
    elseif op == 'l' then
      redis.call('ZREMRANGEBYLEX', key, '-', '(' .. ARGV[i + 2])
      i = i + 3
    else
      dropOutcomes(ARGV[i + 2])
      i = i + 3
    end
  end
end

-- ARGV[1] is what tells the client that the command is under way.
local sealed, epoch = unpack(redis.call('MGET', SEAL, K.e or SEAL))
if sealed then return 'SEALED' end
