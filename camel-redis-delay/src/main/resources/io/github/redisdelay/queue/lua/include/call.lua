-- Included before the other includes: the bounds that calls share. LuaScript puts the names of the keys before each script:
-- key_messages, key_dead_state and so on, in the order in which the script's comment names the keys.

-- The largest integer that a double, and so a score, holds exactly.
local CALL_MAX_EXACT = 9007199254740991

-- Entries of clients and consumers that nobody used for this long are dropped, and their key expires after twice that.
local CALL_UNUSED_MICROS = 86400 * 1000000
local CALL_UNUSED_SECONDS = 2 * 86400
-- All that is known of a queue beside its messages is forgotten after this time without use.
local CALL_IDLE_SECONDS = 30 * 86400
