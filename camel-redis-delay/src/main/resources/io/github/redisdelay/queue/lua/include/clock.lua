-- Included where the time matters: the server's clock in whole microseconds since the epoch. A call reads it once.
local clock_time = redis.call('TIME')
local clock_now = clock_time[1] * 1000000 + clock_time[2]
