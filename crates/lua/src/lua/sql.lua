-- `sysbench.sql`: connections, statements, parameters. What waits for the server yields to the host,
-- with a number that says what is wanted (src/answer.rs).
local host = ...
local error, pairs, select, setmetatable, tonumber, tostring, type, unpack =
   error, pairs, select, setmetatable, tonumber, tostring, type, unpack
local yield, concat = coroutine.yield, table.concat

local CONNECT, QUERY, PREPARE, EXECUTE, DISCONNECT, RECONNECT, DROP_TABLE = 3, 4, 5, 6, 7, 8, 10

-- sysbench's number of the error that has its event done again.
local RESTART_EVENT = 1

-- Raises a message with the script's line.
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

-- Results -----------------------------------------------------------------------------------------

-- `number` is 0 where no row is left to be fetched.
local Result = {}
Result.__index = Result
function Result:fetch_row()
   local number = self.number
   if number > 0 then
      local row, has_more = self.shelf:fetch(number)
      if not has_more then
         self.number = 0
      end
      return row
   end
   return nil
end
function Result:free()
   if self.number > 0 then
      self.shelf:release(self.number)
   end
   self.nrows, self.number = 0, 0
end

-- What a query or a statement returned, if that was rows. They lie on the connection's shelf, which is
-- told when it is another one.
local function result_of(connection, nrows, nfields, number, shelf)
   if not nrows then
      return nil
   end
   local own = connection.own
   if shelf then
      own.shelf = shelf
   end
   return setmetatable(
      {nrows = nrows, nfields = nfields, number = nrows > 0 and number or 0, shelf = own.shelf}, Result)
end

-- Parameters and statements -----------------------------------------------------------------------

local types = {
   NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6,
   TIME = 7, DATE = 8, DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12,
}

local Number = {}
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

-- What parameters of one type and length have in common: a script has some seventy a thread.
local classes = {}
local function class_of(kind, length)
   local lengths = classes[kind] or {}
   classes[kind] = lengths
   local class = lengths[length or false]
   if not class then
      class = {type = kind, max_len = length}
      for name, method in pairs(kind < types.TIME and Number or Text) do
         class[name] = method
      end
      class.__index = class
      lengths[length or false] = class
   end
   return class
end

-- Of a statement without parameters; nobody writes to it.
local NO_PARAMS = {}

-- Filled and taken without a yield between: one does for all threads.
local values = {}

-- With four fields it takes half as much as with five.
local Statement = {}
Statement.__index = Statement
function Statement:bind_create(kind, length)
   if type(kind) ~= "number" or kind < types.TINYINT or kind > types.VARCHAR then
      raise("bind_create(): must be one of sysbench.sql.type, not " .. tostring(kind))
   end
   return setmetatable({}, class_of(kind, length))
end
function Statement:bind_param(...)
   for i = 1, select("#", ...) do
      local param = select(i, ...)
      if type(param) ~= "table" then
         raise("bind_param(): parameter " .. i .. " must be of bind_create(), not a " .. type(param))
      end
   end
   self.params = {...}
end
function Statement:bind_result()
end
function Statement:execute()
   local connection, id, params = self.connection, self.id, self.params
   local ok, result, state, message, number
   if not id then
      raise("execute(): the statement is closed")
   end
   local first, second = params[1], params[2]
   if not first then
      ok, result, state, message, number = yield(EXECUTE, connection.id, id)
   elseif not second then
      ok, result, state, message, number = yield(EXECUTE, connection.id, id, first.value)
   elseif not params[3] then
      ok, result, state, message, number =
         yield(EXECUTE, connection.id, id, first.value, second.value)
   else
      local count = #params
      for i = 1, count do
         values[i] = params[i].value
      end
      ok, result, state, message, number =
         yield(EXECUTE, connection.id, id, unpack(values, 1, count))
   end
   if ok then
      return result_of(connection, result, state, message, number)
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
      return result_of(connection, result, state, message, number)
   end
   fail(connection, sql, ok, result, state, message, number)
end
Connection.query = query

function Connection:query_row(sql)
   local result = query(self, sql)
   local row = result and result:fetch_row()
   if row then
      local columns = result.nfields
      result:free()
      return unpack(row, 1, columns)
   end
end

-- For the cleanup of this crate's own modules: drops a table of sysbench's. One of somebody else's that
-- bears its name stays.
function Connection:drop_benchmark_table(name)
   local ok, result, state, message, number = yield(DROP_TABLE, self.id, name)
   if not ok then
      fail(self, "DROP TABLE " .. name, ok, result, state, message, number)
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
   return setmetatable({connection = self, id = statement, query = sql, params = NO_PARAMS}, Statement)
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
   -- `own` also for a script's object that stands for the connection.
   return setmetatable({id = id, driver = self, own = {}}, Connection)
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

return {driver = driver, sql = sql, query = query}
