-- The module that scripts for sysbench's OLTP tables build on, with the interface that sysbench
-- documents: options, the tables sbtest1 to sbtestN, and one function to prepare and one to execute
-- each kind of statement. A script declares prepare_statements() and event().

if sysbench.cmdline.command == nil then
   error("a command is needed: prepare, prewarm, run, cleanup or help")
end

sysbench.cmdline.options = {
   table_size = {"Number of rows per table", 10000},
   range_size = {"Keys that one range SELECT covers", 100},
   tables = {"Number of tables", 1},
   point_selects = {"Point SELECTs per transaction", 10},
   simple_ranges = {"Plain range SELECTs per transaction", 1},
   sum_ranges = {"Range SELECTs with SUM() per transaction", 1},
   order_ranges = {"Range SELECTs with ORDER BY per transaction", 1},
   distinct_ranges = {"Range SELECTs with DISTINCT per transaction", 1},
   index_updates = {"UPDATEs of the indexed column k per transaction", 1},
   non_index_updates = {"UPDATEs of the unindexed column c per transaction", 1},
   delete_inserts = {"Pairs of DELETE and INSERT of one key per transaction", 1},
   range_selects = {"Run range SELECTs", true},
   auto_inc = {"Let the server number new rows", true},
   skip_trx = {"Omit BEGIN and COMMIT", false},
   secondary = {"Give id a plain index instead of the primary key", false},
   create_secondary = {"Create the index on k", true},
   reconnect = {"Reconnect every this many events; 0 = never", 0},
   mysql_storage_engine = {"Storage engine of new tables", "innodb"},
   pgsql_variant = {"Variant behind the PostgreSQL protocol"},
   create_table_options = {"Text appended to CREATE TABLE", ""},
}

local groups_c = ("###########-"):rep(9) .. "###########"
local groups_pad = ("###########-"):rep(4) .. "###########"

function get_c_value()
   return sysbench.rand.string(groups_c)
end

function get_pad_value()
   return sysbench.rand.string(groups_pad)
end

-- Tables ------------------------------------------------------------------------------------------

-- Of a parallel command each thread does every so many-th table.
local function own_tables()
   local opt = sysbench.opt
   local number = (sysbench.tid or 0) % opt.threads - opt.threads + 1
   return function()
      number = number + opt.threads
      if number <= opt.tables then
         return number
      end
   end
end

local function connected(work)
   local drv = sysbench.sql.driver()
   local con = drv:connect()
   for number in own_tables() do
      work(drv, con, number)
   end
   con:disconnect()
end

function cmd_prepare()
   connected(create_table)
end

function cmd_prewarm()
   connected(function(drv, con, number)
      local name = "sbtest" .. number
      print("Preloading table " .. name)
      con:query("SELECT AVG(id) FROM " .. name)
      con:query("SELECT COUNT(*) FROM " .. name .. " WHERE k LIKE '%0%'")
   end)
end
cmd_warmup = cmd_prewarm

sysbench.cmdline.commands = {
   prepare = {cmd_prepare, sysbench.cmdline.PARALLEL_COMMAND},
   prewarm = {cmd_prewarm, sysbench.cmdline.PARALLEL_COMMAND},
   warmup = {cmd_prewarm, sysbench.cmdline.PARALLEL_COMMAND},
}

function create_table(drv, con, table_num)
   local opt, driver = sysbench.opt, drv:name()
   local name = "sbtest" .. table_num
   local id, key, engine = "INTEGER NOT NULL", ",\n  PRIMARY KEY (id)", ""
   local later
   if driver == "mysql" then
      id = opt.auto_inc and "INTEGER NOT NULL AUTO_INCREMENT" or id
      engine = "/*! ENGINE = " .. opt.mysql_storage_engine .. " */"
      key = opt.secondary and ",\n  KEY xid (id)" or key
   elseif driver == "pgsql" then
      id = opt.auto_inc and (opt.pgsql_variant == "redshift" and "INTEGER IDENTITY(1,1)" or "SERIAL") or id
   elseif opt.auto_inc and not opt.secondary then
      -- An alias of the row's number, which SQLite deals out where a row names none.
      id = "INTEGER NOT NULL"
   end
   if driver ~= "mysql" and opt.secondary then
      key, later = "", "CREATE INDEX xid_" .. table_num .. " ON " .. name .. "(id)"
   end
   print("Creating table '" .. name .. "'...")
   con:query("CREATE TABLE " .. name .. "(\n  id " .. id .. ",\n  k INTEGER DEFAULT '0' NOT NULL,\n"
      .. "  c CHAR(120) DEFAULT '' NOT NULL,\n  pad CHAR(60) DEFAULT '' NOT NULL" .. key .. "\n) "
      .. engine .. " " .. (opt.create_table_options or ""))
   if later then
      con:query(later)
   end
   if opt.table_size > 0 then
      print("Inserting " .. opt.table_size .. " records into '" .. name .. "'")
      local columns = opt.auto_inc and "(k, c, pad)" or "(id, k, c, pad)"
      con:bulk_insert_init("INSERT INTO " .. name .. columns .. " VALUES")
      for row = 1, opt.table_size do
         local k = sysbench.rand.default(1, opt.table_size)
         local id_value = opt.auto_inc and "" or row .. ", "
         con:bulk_insert_next("(" .. id_value .. k .. ", '" .. get_c_value() .. "', '" .. get_pad_value() .. "')")
      end
      con:bulk_insert_done()
   end
   if opt.create_secondary and opt.pgsql_variant ~= "redshift" then
      print("Creating a secondary index on '" .. name .. "'...")
      con:query("CREATE INDEX k_" .. table_num .. " ON " .. name .. "(k)")
   end
end

function cleanup()
   local drv = sysbench.sql.driver()
   local con = drv:connect()
   for number = 1, sysbench.opt.tables do
      print("Dropping table 'sbtest" .. number .. "'...")
      con:drop_benchmark_table("sbtest" .. number)
   end
end

-- Statements --------------------------------------------------------------------------------------

local types = sysbench.sql.type
local range = {types.INT, types.INT}
local texts = {
   point_selects = {"SELECT c FROM sbtest%u WHERE id=?", types.INT},
   simple_ranges = {"SELECT c FROM sbtest%u WHERE id BETWEEN ? AND ?", unpack(range)},
   sum_ranges = {"SELECT SUM(k) FROM sbtest%u WHERE id BETWEEN ? AND ?", unpack(range)},
   order_ranges = {"SELECT c FROM sbtest%u WHERE id BETWEEN ? AND ? ORDER BY c", unpack(range)},
   distinct_ranges = {"SELECT DISTINCT c FROM sbtest%u WHERE id BETWEEN ? AND ? ORDER BY c", unpack(range)},
   index_updates = {"UPDATE sbtest%u SET k=k+1 WHERE id=?", types.INT},
   non_index_updates = {"UPDATE sbtest%u SET c=? WHERE id=?", {types.CHAR, 120}, types.INT},
   deletes = {"DELETE FROM sbtest%u WHERE id=?", types.INT},
   inserts = {"INSERT INTO sbtest%u (id, k, c, pad) VALUES (?, ?, ?, ?)",
      types.INT, types.INT, {types.CHAR, 120}, {types.CHAR, 60}},
}

function prepare_begin()
   stmt.begin = con:prepare("BEGIN")
end

function prepare_commit()
   stmt.commit = con:prepare("COMMIT")
end

function prepare_for_each_table(key)
   local text = texts[key]
   for number = 1, sysbench.opt.tables do
      local statement = con:prepare(text[1]:format(number))
      local params = {}
      for i = 2, #text do
         local kind = text[i]
         if type(kind) == "table" then
            params[i - 1] = statement:bind_create(kind[1], kind[2])
         else
            params[i - 1] = statement:bind_create(kind)
         end
      end
      statement:bind_param(unpack(params))
      stmt[number][key], param[number][key] = statement, params
   end
end

for _, key in ipairs({
   "point_selects", "simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges", "index_updates",
   "non_index_updates",
}) do
   _G["prepare_" .. key] = function()
      prepare_for_each_table(key)
   end
end

function prepare_delete_inserts()
   prepare_for_each_table("deletes")
   prepare_for_each_table("inserts")
end

function begin()
   stmt.begin:execute()
end

function commit()
   stmt.commit:execute()
end

local function get_table_num()
   return sysbench.rand.uniform(1, sysbench.opt.tables)
end

local function get_id()
   return sysbench.rand.default(1, sysbench.opt.table_size)
end

function execute_point_selects()
   local number = get_table_num()
   local statement, id = stmt[number].point_selects, param[number].point_selects[1]
   for _ = 1, sysbench.opt.point_selects do
      id:set(get_id())
      statement:execute()
   end
end

local function execute_range(key)
   local number = get_table_num()
   local statement, params = stmt[number][key], param[number][key]
   for _ = 1, sysbench.opt[key] do
      local id = get_id()
      params[1]:set(id)
      params[2]:set(id + sysbench.opt.range_size - 1)
      statement:execute()
   end
end

for _, key in ipairs({"simple_ranges", "sum_ranges", "order_ranges", "distinct_ranges"}) do
   _G["execute_" .. key] = function()
      execute_range(key)
   end
end

function execute_index_updates()
   local number = get_table_num()
   local statement, id = stmt[number].index_updates, param[number].index_updates[1]
   for _ = 1, sysbench.opt.index_updates do
      id:set(get_id())
      statement:execute()
   end
end

function execute_non_index_updates()
   local number = get_table_num()
   local statement, params = stmt[number].non_index_updates, param[number].non_index_updates
   for _ = 1, sysbench.opt.non_index_updates do
      params[1]:set_rand_str(groups_c)
      params[2]:set(get_id())
      statement:execute()
   end
end

function execute_delete_inserts()
   local number = get_table_num()
   local delete, insert = stmt[number].deletes, stmt[number].inserts
   local delete_id, params = param[number].deletes[1], param[number].inserts
   for _ = 1, sysbench.opt.delete_inserts do
      local id = get_id()
      delete_id:set(id)
      params[1]:set(id)
      params[2]:set(get_id())
      params[3]:set_rand_str(groups_c)
      params[4]:set_rand_str(groups_pad)
      delete:execute()
      insert:execute()
   end
end

-- Threads -----------------------------------------------------------------------------------------

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   stmt, param = {}, {}
   for number = 1, sysbench.opt.tables do
      stmt[number], param[number] = {}, {}
   end
   prepare_statements()
end

function close_statements()
   for _, statements in ipairs(stmt) do
      for _, statement in pairs(statements) do
         statement:close()
      end
   end
   for _, name in ipairs({"begin", "commit"}) do
      if stmt[name] then
         stmt[name]:close()
      end
   end
end

function thread_done()
   close_statements()
   con:disconnect()
end

-- A new connection has no statements: MySQL's numbers for a lost one.
local lost = {[2006] = true, [2011] = true, [2013] = true, [2055] = true}
function sysbench.hooks.before_restart_event(err)
   if lost[err.sql_errno] then
      close_statements()
      prepare_statements()
   end
end

local since_reconnect = 0
function check_reconnect()
   if sysbench.opt.reconnect > 0 then
      since_reconnect = since_reconnect + 1
      if since_reconnect >= sysbench.opt.reconnect then
         since_reconnect = 0
         close_statements()
         con:reconnect()
         prepare_statements()
      end
   end
end
