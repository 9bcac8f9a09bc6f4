if plain then
  write(8 + fields)
  if marks[3] then redis.pcall(PUBLISH, SEAL, HEAD) end
  return 'OK'
end
