-- What is left of Lua's libraries to a script that another host sent: it computes and queries. What leads
-- to files, programs, the environment or the output of this host is not there at all, because a script
-- finds what is in any table (`getfenv`).
os = {clock = os.clock, date = os.date, difftime = os.difftime, time = os.time}
dofile, loadfile, print = nil, nil, nil
-- Compiled loops can't be ended, and what ends by the collector ends outside of any script's thread.
jit = {os = jit.os, arch = jit.arch}
newproxy = nil

-- LuaJIT runs bytecode as it comes: it could do anything.
local load = load
local function load_text(chunk, name, _, environment)
   if environment == nil then
      return load(chunk, name, "t")
   end
   return load(chunk, name, "t", environment)
end
_G.load, _G.loadstring = load_text, load_text
