-- What a script sees: called once a Lua state with the host's functions, returns what makes a script
-- thread of it. A script thread is a coroutine; whatever waits for the server yields to the host.
local host = ...
local base_G = _G
local error, getfenv, ipairs, next, pairs, pcall, rawget, select, setfenv, setmetatable, tonumber, tostring,
   type, unpack = error, getfenv, ipairs, next, pairs, pcall, rawget, select, setfenv, setmetatable,
   tonumber, tostring, type, unpack
local yield, concat = coroutine.yield, table.concat

-- What a coroutine asks the host for.
local IDLE, DONE, FAILED, CONNECT, QUERY, PREPARE, EXECUTE, DISCONNECT, RECONNECT, SLEEP =
   0, 1, 2, 3, 4, 5, 6, 7, 8, 9

local RESTART_EVENT = 1

-- Messages that carry their place already are raised as they are.
local function raise(message)
   error(message .. ": " .. host.place(), 0)
end

-- SQL errors --------------------------------------------------------------------------------------

local SqlError = {}
SqlError.__index = SqlError
function SqlError:__tostring()
   return self.sql_errmsg .. ": " .. self.place
end

-- `ok` is nil where the script asked for what can't be done, and false for the server's errors.
local function fail(connection, query, ok, code, state, message, number)
   if ok == nil then
      raise(code)
   end
   error(setmetatable({
      errcode = RESTART_EVENT,
      connection = connection,
      query = query,
      sql_errno = code,
      sql_state = state,
      sql_errmsg = message,
      number = number,
      place = host.place(),
   }, SqlError), 0)
end

-- Parameters and statements -----------------------------------------------------------------------

local types = {
   NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6,
   TIME = 7, DATE = 8, DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
}

local Number = {}
Number.__index = Number
function Number:set(value)
   if value ~= nil and type(value) ~= "number" then
      local number = tonumber(value)
      if not number then
         raise("set(): a number is needed, not " .. tostring(value))
      end
      value = number
   end
   self.value = value
end
function Number:get()
   return self.value
end
function Number:set_rand_str()
   raise("set_rand_str(): the parameter is a number")
end

local Text = {}
Text.__index = Text
function Text:set(value)
   if type(value) == "number" then
      value = tostring(value)
   elseif value ~= nil and type(value) ~= "string" then
      raise("set(): a string is needed, not a " .. type(value))
   end
   self.value = value
end
function Text:get()
   return self.value
end
function Text:set_rand_str(format)
   self.value = host.rand_string(format)
end

local Statement = {}
Statement.__index = Statement
function Statement:bind_create(kind, length)
   if type(kind) ~= "number" or kind < types.TINYINT or kind > types.VARCHAR then
      raise("bind_create(): must be one of sysbench.sql.type, not " .. tostring(kind))
   end
   return setmetatable({type = kind, max_len = length}, kind < types.TIME and Number or Text)
end
function Statement:bind_param(...)
   self.params = {...}
   self.count = select("#", ...)
   self.values = {}
end
function Statement:bind_result()
end
function Statement:execute()
   local connection, id, params, count = self.connection, self.id, self.params, self.count
   local ok, result, state, message, number
   if not id then
      raise("execute(): the statement is closed")
   end
   if count == 0 then
      ok, result, state, message, number = yield(EXECUTE, connection.id, id)
   elseif count == 1 then
      ok, result, state, message, number = yield(EXECUTE, connection.id, id, params[1].value)
   elseif count == 2 then
      ok, result, state, message, number =
         yield(EXECUTE, connection.id, id, params[1].value, params[2].value)
   else
      local values = self.values
      for i = 1, count do
         values[i] = params[i].value
      end
      ok, result, state, message, number =
         yield(EXECUTE, connection.id, id, unpack(values, 1, count))
   end
   if ok then
      return result
   end
   fail(connection, self.query, ok, result, state, message, number)
end
function Statement:close()
   self.id = nil
end

-- Connections -------------------------------------------------------------------------------------

-- A statement of many rows is sent when it is so long.
local BULK_BYTES = 512 * 1024

local Connection = {}
Connection.__index = Connection

local function query(connection, sql)
   local id = connection.id
   if not id then
      raise("query(): the connection is closed")
   end
   local ok, result, state, message, number = yield(QUERY, id, sql)
   if ok then
      return result
   end
   fail(connection, sql, ok, result, state, message, number)
end
Connection.query = query

function Connection:query_row(sql)
   local result = query(self, sql)
   local row = result and result:fetch_row()
   if row then
      return unpack(row, 1, result.nfields)
   end
end

function Connection:prepare(sql)
   local id = self.id
   if not id then
      raise("prepare(): the connection is closed")
   end
   local ok, statement, state, message, number = yield(PREPARE, id, sql)
   if not ok then
      fail(self, sql, ok, statement, state, message, number)
   end
   return setmetatable({connection = self, id = statement, query = sql, count = 0}, Statement)
end

local function send_bulk(self)
   local rows = self.bulk_rows
   if rows > 0 then
      local bulk = self.bulk
      local sql = bulk[0] .. concat(bulk, ",", 1, rows)
      self.bulk, self.bulk_rows, self.bulk_bytes = {[0] = bulk[0]}, 0, #bulk[0]
      query(self, sql)
   end
end

function Connection:bulk_insert_init(head)
   if type(head) ~= "string" then
      raise("bulk_insert_init(): a string is needed, for example INSERT INTO t VALUES")
   end
   head = head .. " "
   self.bulk, self.bulk_rows, self.bulk_bytes = {[0] = head}, 0, #head
end

function Connection:bulk_insert_next(row)
   local bulk = self.bulk
   if not bulk then
      raise("bulk_insert_next(): there was no bulk_insert_init()")
   end
   row = tostring(row)
   local bytes = self.bulk_bytes + #row + 1
   if bytes > BULK_BYTES then
      send_bulk(self)
      bulk, bytes = self.bulk, self.bulk_bytes + #row + 1
   end
   local rows = self.bulk_rows + 1
   bulk[rows], self.bulk_rows, self.bulk_bytes = row, rows, bytes
end

function Connection:bulk_insert_done()
   if self.bulk then
      send_bulk(self)
      self.bulk = nil
   end
end

function Connection:disconnect()
   if self.id then
      yield(DISCONNECT, self.id)
      self.id = nil
   end
end
Connection.close = Connection.disconnect

function Connection:reconnect()
   local id = self.id
   if not id then
      raise("reconnect(): the connection is closed")
   end
   local ok, code, state, message, number = yield(RECONNECT, id)
   if not ok then
      fail(self, nil, ok, code, state, message, number)
   end
   return true
end

function Connection:check_error()
   return true
end

local Driver = {}
Driver.__index = Driver
function Driver:name()
   return self.driver
end
function Driver:connect()
   local ok, id, state, message, number = yield(CONNECT)
   if not ok then
      fail(nil, nil, ok, id, state, message, number)
   end
   return setmetatable({id = id, driver = self}, Connection)
end
local driver = setmetatable({driver = host.driver}, Driver)

local sql = {
   type = types,
   driver = function(name)
      if name ~= nil and name ~= host.driver then
         raise("sysbench.sql.driver(" .. tostring(name) .. "): the target's driver is " .. host.driver)
      end
      return driver
   end,
}

-- Histograms --------------------------------------------------------------------------------------

-- Buckets whose bounds grow by a constant factor from `low` to `high`.
local Histogram = {}
Histogram.__index = Histogram

local histogram = {
   new = function(size, low, high)
      if type(size) ~= "number" or size < 2 or type(low) ~= "number" or type(high) ~= "number"
         or low <= 0 or high <= low then
         raise("sysbench.histogram.new(size, min, max): for example sysbench.histogram.new(1024, 0.001, 100000)")
      end
      local step = math.log(high / low) / (size - 1)
      return setmetatable({size = size, low = low, step = step, counts = {}, total = 0}, Histogram)
   end,
}

function Histogram:update(value)
   local at = 0
   if value > self.low then
      at = math.min(math.floor(math.log(value / self.low) / self.step + 0.5), self.size - 1)
   end
   self.counts[at] = (self.counts[at] or 0) + 1
   self.total = self.total + 1
end

function Histogram:bound(at)
   return self.low * math.exp(at * self.step)
end

function Histogram:get_pct_cumulative(percent)
   local wanted, seen = math.floor(self.total * percent / 100 + 0.5), 0
   for at = 0, self.size - 1 do
      seen = seen + (self.counts[at] or 0)
      if seen >= wanted then
         return self:bound(at)
      end
   end
   return self:bound(self.size - 1)
end
Histogram.get_pct = Histogram.get_pct_cumulative

-- What was counted since this was asked last.
function Histogram:get_pct_intermediate(percent)
   local before = self.before or {}
   local part = setmetatable({size = self.size, low = self.low, step = self.step, counts = {}, total = 0}, Histogram)
   for at, count in pairs(self.counts) do
      part.counts[at] = count - (before[at] or 0)
      part.total = part.total + part.counts[at]
   end
   self.before = {}
   for at, count in pairs(self.counts) do
      self.before[at] = count
   end
   return part:get_pct_cumulative(percent)
end

function Histogram:get_pct_checkpoint(percent)
   local result = self:get_pct_cumulative(percent)
   self.counts, self.before, self.total = {}, nil, 0
   return result
end

function Histogram:print()
   local most = 0
   for _, count in pairs(self.counts) do
      most = math.max(most, count)
   end
   host.print("       value  ------------- distribution ------------- count\n")
   for at = 0, self.size - 1 do
      local count = self.counts[at]
      if count and count > 0 then
         local stars = string.rep("*", math.floor(count / most * 40 + 0.5))
         host.print(string.format("%12.3f |%-40s %d\n", self:bound(at), stars, count))
      end
   end
end

-- Reports -----------------------------------------------------------------------------------------

local function rates(stat)
   local seconds = stat.time_interval
   return stat.time_total, stat.threads_running, stat.events / seconds,
      (stat.reads + stat.writes + stat.other) / seconds, stat.reads / seconds, stat.writes / seconds,
      stat.other / seconds, stat.latency_pct * 1000, stat.errors / seconds, stat.reconnects / seconds
end

local function report_default(stat)
   host.print(string.format("[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) "
      .. "lat (ms," .. tostring(host.options.percentile) .. "%%): %4.2f err/s: %4.2f reconn/s: %4.2f\n",
      rates(stat)))
end

local function report_csv(stat)
   host.print(string.format("%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f\n", rates(stat)))
end

-- The array is opened by the first report; nobody closes it, as a script of sysbench's own must.
local reports = 0
local function report_json(stat)
   host.print((reports == 0 and "[\n" or ",\n") .. string.format([[
  {
    "time": %.0f,
    "threads": %u,
    "tps": %4.2f,
    "qps": {
      "total": %4.2f,
      "reads": %4.2f,
      "writes": %4.2f,
      "other": %4.2f
    },
    "latency": %4.2f,
    "errors": %4.2f,
    "reconnects": %4.2f
  }]], rates(stat)))
   reports = reports + 1
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
   return base_G.os.execute(command and without_secrets(command))
end

local base_io = copy(base_G.io)
base_io.write = function(...)
   local words = {...}
   for i = 1, select("#", ...) do
      words[i] = tostring(words[i])
   end
   host.print(concat(words, "", 1, select("#", ...)))
   return base_G.io.stdout
end
base_io.popen = function(command, mode)
   return base_G.io.popen(without_secrets(command), mode)
end

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

-- LuaJIT's ffi: what scripts look for in sysbench itself, without the rest.
local counters = {
   SB_CNT_OTHER = 0, SB_CNT_READ = 1, SB_CNT_WRITE = 2, SB_CNT_EVENT = 3, SB_CNT_ERROR = 4,
   SB_CNT_RECONNECT = 5, SB_CNT_BYTES_READ = 6, SB_CNT_BYTES_WRITTEN = 7,
}
local known_c = copy(counters)
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
      os = base_G.jit and base_G.jit.os,
      arch = base_G.jit and base_G.jit.arch,
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
local ffi_module = load_ffi()

local rand = {}
for _, name in ipairs({
   "default", "uniform", "gaussian", "special", "pareto", "zipfian", "unique", "uniform_double",
   "uniform_uint64", "string", "varstring",
}) do
   rand[name] = host["rand_" .. name]
end

-- sysbench 0.4 and 0.5 ----------------------------------------------------------------------------

base.DB_ERROR_NONE, base.DB_ERROR_RESTART_TRANSACTION, base.DB_ERROR_FAILED = 0, 1, 2
base.DB_ERROR_DEADLOCK = 1
base.db_driver = host.driver

local function default_connection()
   local own = of[getfenv(0)]
   local con = own.connection
   if not con then
      con = driver:connect()
      own.connection = con
   end
   return con
end

base.db_connect = function() default_connection() end
base.db_disconnect = function()
   local own = of[getfenv(0)]
   if own.connection then
      own.connection:disconnect()
      own.connection = nil
   end
end
base.db_query = function(text) return query(default_connection(), text) end
base.db_bulk_insert_init = function(head) default_connection():bulk_insert_init(head) end
base.db_bulk_insert_next = function(row) default_connection():bulk_insert_next(row) end
base.db_bulk_insert_done = function() default_connection():bulk_insert_done() end
base.db_prepare = function(text) return default_connection():prepare(text) end
base.db_bind_param = function(statement, params)
   -- Tables whose first element is the value, read again at each execution.
   local bound = {}
   for i, param in ipairs(params) do
      bound[i] = setmetatable({}, {__index = function(_, key)
         if key == "value" then
            if type(param) == "table" then
               return param.value ~= nil and param.value or param[1]
            end
            return param
         end
      end})
   end
   statement:bind_param(unpack(bound, 1, #params))
end
base.db_bind_result = function() end
base.db_execute = function(statement) return statement:execute() end
base.db_close = function(statement) statement:close() end
base.db_store_results = function(result) return result end
base.db_free_results = function() end
base.sb_rand = rand.default
base.sb_rand_uniform = rand.uniform
base.sb_rand_gaussian = rand.gaussian
base.sb_rand_special = rand.special
base.sb_rand_pareto = rand.pareto
base.sb_rand_zipfian = rand.zipfian
base.sb_rand_uniq = rand.unique
base.sb_rand_unique = rand.unique
base.sb_rand_str = rand.string
base.sb_rnd = function() return rand.uniform(0, 1073741822) end

-- Script threads ----------------------------------------------------------------------------------

local seen_options = {__index = host.options}
-- sysbench 0.5 gave every option as a global text.
local seen_globals = {__index = setmetatable(host.globals, {__index = base})}

local function new_environment(thread)
   local env = setmetatable({}, seen_globals)
   env._G = env
   env.math, env.table, env.bit, env.coroutine =
      copy(base_G.math), copy(base_G.table), copy(base_G.bit), copy(base_G.coroutine)
   env.os, env.io = copy(base_os), copy(base_io)
   local sysbench = {
      tid = thread,
      opt = setmetatable({}, seen_options),
      rand = copy(rand),
      sql = copy(sql),
      histogram = histogram,
      hooks = {},
      error = {NONE = 0, RESTART_EVENT = RESTART_EVENT},
      version = "1.0.20",
      version_string = "sysbench 1.0.20 (Tidemark)",
      report_default = report_default,
      report_csv = report_csv,
      report_json = report_json,
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
   env.bind_thread = nil
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
