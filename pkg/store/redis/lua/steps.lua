local BASE, inc = SEAL:sub(1, -2), ARGV[2]:sub(1, 16)

local function of(kind) return BASE .. kind .. inc end

local dropOutcomes

-- write takes the steps that the arguments end with.
local function write(i)
  while i <= #ARGV do
    local op, key = ARGV[i], of(ARGV[i + 1])
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
