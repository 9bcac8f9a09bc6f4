-- KEYS are the seal, the epoch, the head, and the mark of those who wait. There is no seal but on a sealed store, so that no script begins in a slot that is on the move
-- between two nodes. What else a script needs lies in the same slot: its keys are made of these (keys.go).
local SEAL, HEAD = KEYS[1], KEYS[3]
local marks, head = redis.call('MGET', SEAL, KEYS[2], KEYS[4]), redis.call('HGET', HEAD, 'h')
