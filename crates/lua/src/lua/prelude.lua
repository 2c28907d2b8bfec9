-- What a script sees: called once a Lua state with the host's functions and the other files' parts,
-- returns what makes a script thread of it. A script thread is a coroutine whose globals are its own.
local host, parts, reports, ffi_module, add_legacy = ...
local base_G = _G
local error, getfenv, getmetatable, ipairs, pairs, pcall = error, getfenv, getmetatable, ipairs, pairs, pcall
local select, setfenv, setmetatable, tostring, type, xpcall = select, setfenv, setmetatable, tostring, type, xpcall
local resume = coroutine.resume
local yield, concat = coroutine.yield, table.concat

-- What a coroutine tells the host (src/answer.rs).
local IDLE, DONE, FAILED = 0, 1, 2

-- sysbench's number of the error that has its event done again.
local RESTART_EVENT = 1

-- Raises a message with the script's line.
local function raise(message)
   error(message .. ": " .. host.place(), 0)
end

-- What a script's thread has for itself -----------------------------------------------------------

-- Named here, because the library's tables are each thread's own.
local function copy(from)
   local to = {}
   for key, value in pairs(from) do
      to[key] = value
   end
   return to
end

-- The tables that threads have in common, by the metatable of what each has for itself.
local common = {}

-- Makes what gives each thread a table of its own that begins as `from`: it has what the thread sets in it,
-- and the rest in common, which would else take kilobytes a thread, and cold memory with each query.
local function owned(from)
   local meta = {__index = copy(from)}
   common[meta] = meta.__index
   return function()
      return setmetatable({}, meta)
   end
end

local function refused(name)
   return function()
      raise(name .. " is not offered to scripts")
   end
end

local function exit(code)
   raise("os.exit(" .. tostring(code == nil and "" or code) .. ") was called")
end

-- Programs that a script starts have no password in their environment.
local function without_secrets(command)
   return "unset " .. host.secrets .. "; " .. tostring(command)
end

local base = copy(base_G)
for _, name in ipairs({"module", "newproxy", "jit", "debug"}) do
   base[name] = nil
end
base.debug = {traceback = function(message) return message end}

-- What ends a script is not the script's to catch.
local function unless_stopped(ok, ...)
   if not ok and host.is_stopped() then
      error((...), 0)
   end
   return ok, ...
end

-- Of a thread's own table both what it set and what it has in common.
base.pairs = function(of)
   local from = common[getmetatable(of)]
   if not from then
      return pairs(of)
   end
   local all = copy(from)
   for key, value in pairs(of) do
      all[key] = value
   end
   return pairs(all)
end

base.pcall = function(...)
   return unless_stopped(pcall(...))
end

base.xpcall = function(...)
   return unless_stopped(xpcall(...))
end

local base_coroutine = copy(base_G.coroutine)
base_coroutine.resume = function(...)
   return unless_stopped(resume(...))
end

-- The state's own globals are not the script's to find: what is guarded below stands there as it was.
-- They are what built-in functions, and those of this file, have for globals.
base.getfenv = function(of)
   if type(of) == "number" and of > 0 then
      of = of + 1
   end
   local found = getfenv(of == nil and 2 or of)
   if found == base_G then
      return getfenv(0)
   end
   return found
end

base.print = function(...)
   local words = {...}
   for i = 1, select("#", ...) do
      words[i] = tostring(words[i])
   end
   host.print(concat(words, "\t", 1, select("#", ...)) .. "\n")
end

local base_os = copy(base_G.os)
base_os.exit = exit
base_os.getenv = function(name)
   if not host.is_secret(name) then
      return base_G.os.getenv(name)
   end
end
base_os.execute = function(command)
   -- Nothing may come between, where input and output are not a person's.
   local aside = host.aside and "exec 1>&2 </dev/null; " or ""
   return base_G.os.execute(command and aside .. without_secrets(command))
end

local base_io = copy(base_G.io or {})
base_io.write = function(...)
   local words = {...}
   for i = 1, select("#", ...) do
      words[i] = tostring(words[i])
   end
   host.print(concat(words, "", 1, select("#", ...)))
   return base_io.stdout
end
base_io.popen = function(command, mode)
   local other = mode == "w" and "exec 1>&2; " or "exec </dev/null; "
   return base_G.io.popen((host.aside and other or "") .. without_secrets(command), mode)
end

if host.confined then
   -- Another host sent the script: the files, programs and environment of this one are not its own.
   local function kept(name)
      return function()
         raise(name .. "() is kept from scripts of other hosts, unless the agent has --scripts=any")
      end
   end
   for _, name in ipairs({"execute", "remove", "rename", "setlocale", "tmpname"}) do
      base_os[name] = kept("os." .. name)
   end
   base_os.getenv = function() end
   for _, name in ipairs({"close", "input", "lines", "open", "output", "popen", "read", "tmpfile"}) do
      base_io[name] = kept("io." .. name)
   end
   local out = {flush = function() end, setvbuf = function() end}
   function out:write(...)
      base_io.write(...)
      return self
   end
   base_io.stdout, base_io.stderr = out, out
elseif host.aside then
   -- Input and output are not a person's: nothing else may come between.
   base_io.stdout = base_G.io.stderr
   base_G.io.output(base_io.stdout)
   base_G.io.input("/dev/null")
   base_io.stdin = base_G.io.input()
end

base.os, base.io, base.coroutine, base.package = base_os, base_io, base_coroutine, nil

-- Files of the script: each is compiled once a state, and run once a thread in its environment.
local function chunk_of(path)
   local made = host.compile(path)
   if type(made) == "string" then
      error(made, 0)
   end
   return setfenv(made, getfenv(0))()
end

-- Whose `package`, legacy connection and loaded modules they are.
local of = setmetatable({}, {__mode = "k"})

base.dofile = function(path)
   if path == nil then
      raise("dofile(): a file is needed")
   end
   local found = host.find(path) or raise("dofile(): " .. tostring(path) .. " is not there")
   return chunk_of(found)()
end

base.loadfile = function(path)
   local found = path and host.find(path)
   if not found then
      return nil, "cannot open " .. tostring(path)
   end
   local ok, made = pcall(chunk_of, found)
   if ok then
      return made
   end
   return nil, made
end

base.require = function(name)
   local package = of[getfenv(0)].package
   local loaded = package.loaded[name]
   if loaded ~= nil then
      return loaded
   end
   local make, from = package.preload[name], nil
   if not make then
      local file = tostring(name):gsub("%.", "/")
      for pattern in tostring(package.path):gmatch("[^;]+") do
         from = host.exists((pattern:gsub("%?", (file:gsub("%%", "%%%%")))))
         if from then
            break
         end
      end
      from = from or host.built_in(name)
      if not from then
         raise("require(\"" .. tostring(name) .. "\"): no such module in " .. tostring(package.path))
      end
      make = chunk_of(from)
   end
   local result = make(name)
   if result == nil then
      result = package.loaded[name]
   end
   if result == nil then
      result = true
   end
   package.loaded[name] = result
   return result
end

local rand = {}
for _, name in ipairs({
   "default", "uniform", "gaussian", "special", "pareto", "zipfian", "unique", "uniform_double",
   "uniform_uint64", "string", "varstring",
}) do
   rand[name] = host["rand_" .. name]
end

add_legacy(host, base, function() return of[getfenv(0)] end, parts, rand)

-- Script threads ----------------------------------------------------------------------------------

local own_math, own_table, own_bit = owned(base_G.math), owned(base_G.table), owned(base_G.bit)
local own_coroutine, own_os, own_io = owned(base_coroutine), owned(base_os), owned(base_io)
local own_opt, own_rand, own_sql = owned(host.options), owned(rand), owned(parts.sql)

-- sysbench 0.5 gave every option as a global text.
local seen_globals = {__index = setmetatable(host.globals, {__index = base})}

local function new_environment(thread)
   local env = setmetatable({}, seen_globals)
   env._G = env
   env.math, env.table, env.bit, env.coroutine = own_math(), own_table(), own_bit(), own_coroutine()
   env.os, env.io = own_os(), own_io()
   local sysbench = {
      tid = thread,
      opt = own_opt(),
      rand = own_rand(),
      sql = own_sql(),
      histogram = reports.histogram,
      hooks = {},
      error = {NONE = 0, RESTART_EVENT = RESTART_EVENT},
      version = "1.0.20",
      version_string = "sysbench 1.0.20 (Tidemark)",
      report_default = reports.default,
      report_csv = reports.csv,
      report_json = reports.json,
      cmdline = {
         command = host.command,
         script_path = host.script,
         options = nil,
         commands = nil,
         PARALLEL_COMMAND = true,
         ARG_BOOL = "bool", ARG_INT = "int", ARG_INTEGER = "int", ARG_SIZE = "size",
         ARG_DOUBLE = "double", ARG_STRING = "string", ARG_LIST = "list", ARG_FILE = "string",
      },
   }
   env.sysbench = sysbench
   env.package = {
      path = host.path,
      cpath = "",
      config = "/\n;\n?\n!\n-\n",
      preload = {ffi = function() return ffi_module end},
      loaded = {
         _G = env, string = base.string, math = env.math, table = env.table, io = env.io, os = env.os,
         bit = env.bit, coroutine = env.coroutine, sysbench = sysbench, ["sysbench.sql"] = sysbench.sql,
      },
   }
   of[env] = {package = env.package}
   return env
end

-- The coroutine: does one function after the other, each in the thread's environment.
local function work(env)
   setfenv(0, env)
   local run, argument = yield(IDLE)
   while true do
      local ok, result = pcall(run, argument)
      run, argument = yield(ok and DONE or FAILED, result)
   end
end

return {
   environment = new_environment,
   work = work,
   load = function() chunk_of(host.script)() end,
}
