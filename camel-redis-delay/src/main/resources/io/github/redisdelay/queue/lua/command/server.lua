-- Reads the server's own figures. Changes nothing.
--
-- KEYS  messages: it decides the node that is asked, and is not read
-- Reply bytes: the sections server, memory and persistence of INFO; empty where the user may not ask
-- Errors  none
-- Cost  O(1)

local sections = {}
for i, section in ipairs({ 'server', 'memory', 'persistence' }) do
  local text = redis.pcall('INFO', section)
  sections[i] = type(text) == 'string' and text or ''
end
return table.concat(sections, '\r\n')
