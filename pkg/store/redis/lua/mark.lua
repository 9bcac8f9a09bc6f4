-- A mark of a few bytes, which a full memory has to take: without it a store could not be read, or not be sealed.
return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))
