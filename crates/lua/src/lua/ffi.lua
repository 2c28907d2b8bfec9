-- What scripts get by `require("ffi")`.
local host = ...
local error, pairs, setmetatable, tonumber, tostring = error, pairs, setmetatable, tonumber, tostring
local yield, jit = coroutine.yield, jit

local SLEEP = 9

-- Raises a message with the script's line.
local function raise(message)
   error(message .. ": " .. host.place(), 0)
end

-- LuaJIT's ffi: what scripts look for in sysbench itself, without the rest.
local counters = {
   SB_CNT_OTHER = 0, SB_CNT_READ = 1, SB_CNT_WRITE = 2, SB_CNT_EVENT = 3, SB_CNT_ERROR = 4,
   SB_CNT_RECONNECT = 5, SB_CNT_BYTES_READ = 6, SB_CNT_BYTES_WRITTEN = 7,
}
local known_c = {}
for name, number in pairs(counters) do
   known_c[name] = number
end
function known_c.sb_counter_inc(_, counter)
   host.count(tonumber(counter), 1)
end
function known_c.sb_counter_add(_, counter, number)
   host.count(tonumber(counter), tonumber(number))
end
function known_c.usleep(microseconds)
   yield(SLEEP, tonumber(microseconds) / 1e6)
   return 0
end
function known_c.sleep(seconds)
   yield(SLEEP, tonumber(seconds))
   return 0
end
known_c.sb_rand_uniform = host.rand_uniform
known_c.sb_rand_default = host.rand_default
known_c.sb_rand_uniform_double = host.rand_uniform_double

local function load_ffi()
   local real = host.ffi
   local ffi = {
      cdef = function(text)
         if real then
            return real.cdef(text)
         end
      end,
      os = jit.os,
      arch = jit.arch,
   }
   ffi.C = setmetatable({}, {__index = function(_, name)
      local found = known_c[name]
      if found ~= nil then
         return found
      end
      if real then
         return real.C[name]
      end
      raise("ffi.C." .. tostring(name) .. " needs --lua-ffi=on")
   end})
   return setmetatable(ffi, {__index = function(_, name)
      if real then
         return real[name]
      end
      raise("ffi." .. tostring(name) .. " needs --lua-ffi=on")
   end})
end
return load_ffi()
