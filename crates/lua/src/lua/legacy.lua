-- The functions of sysbench 0.4 and 0.5, put into `base`; `own` gives what a script thread has of its own.
local host, base, own_of, parts, rand = ...
local ipairs, setmetatable, type, unpack = ipairs, setmetatable, type, unpack
local driver, query = parts.driver, parts.query

base.DB_ERROR_NONE, base.DB_ERROR_RESTART_TRANSACTION, base.DB_ERROR_FAILED = 0, 1, 2
base.DB_ERROR_DEADLOCK = 1
base.db_driver = host.driver

local function default_connection()
   local own = own_of()
   local con = own.connection
   if not con then
      con = driver:connect()
      own.connection = con
   end
   return con
end

base.db_connect = function() default_connection() end
base.db_disconnect = function()
   local own = own_of()
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
