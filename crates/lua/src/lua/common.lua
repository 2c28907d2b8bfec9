-- What sysbench 0.5's scripts take with dofile(pathtest .. "common.lua"), where the file is not there:
-- options as globals, and the tables sbtest1 to sbtestN.

local function number(name, default)
   _G[name] = tonumber(_G[name]) or default
end

function set_vars()
   number("oltp_table_size", 10000)
   number("oltp_range_size", 100)
   number("oltp_tables_count", 1)
   number("oltp_point_selects", 10)
   number("oltp_simple_ranges", 1)
   number("oltp_sum_ranges", 1)
   number("oltp_order_ranges", 1)
   number("oltp_distinct_ranges", 1)
   number("oltp_index_updates", 1)
   number("oltp_non_index_updates", 1)
   number("oltp_delete_inserts", 1)
   mysql_table_engine = mysql_table_engine or "innodb"
   oltp_auto_inc = oltp_auto_inc ~= "off" and oltp_auto_inc ~= false
   oltp_read_only = oltp_read_only == "on" or oltp_read_only == true
   oltp_skip_trx = oltp_skip_trx == "on" or oltp_skip_trx == true
   oltp_range_selects = oltp_range_selects ~= "off" and oltp_range_selects ~= false
   oltp_create_secondary = oltp_create_secondary ~= "off" and oltp_create_secondary ~= false
   oltp_secondary = oltp_secondary == "on" or oltp_secondary == true
   begin_query, commit_query = "BEGIN", "COMMIT"
end

local groups_c = ("###########-"):rep(9) .. "###########"
local groups_pad = ("###########-"):rep(4) .. "###########"

function create_insert(table_id)
   local name = "sbtest" .. table_id
   local id, key, engine = "INTEGER NOT NULL", ", PRIMARY KEY (id)", ""
   if db_driver == "mysql" then
      id = oltp_auto_inc and "INTEGER UNSIGNED NOT NULL AUTO_INCREMENT" or id
      engine = "/*! ENGINE = " .. mysql_table_engine .. " */"
   elseif db_driver == "pgsql" then
      id = oltp_auto_inc and "SERIAL NOT NULL" or id
   elseif oltp_auto_inc then
      id, key = "INTEGER PRIMARY KEY", ""
   end
   print("Creating table '" .. name .. "'...")
   db_query("CREATE TABLE " .. name .. " (id " .. id .. ", k INTEGER DEFAULT '0' NOT NULL, "
      .. "c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL" .. key .. ") " .. engine)
   print("Inserting " .. oltp_table_size .. " records into '" .. name .. "'")
   db_bulk_insert_init("INSERT INTO " .. name .. (oltp_auto_inc and "(k, c, pad)" or "(id, k, c, pad)") .. " VALUES")
   for row = 1, oltp_table_size do
      db_bulk_insert_next("(" .. (oltp_auto_inc and "" or row .. ", ") .. sb_rand(1, oltp_table_size)
         .. ", '" .. sb_rand_str(groups_c) .. "', '" .. sb_rand_str(groups_pad) .. "')")
   end
   db_bulk_insert_done()
   if oltp_create_secondary then
      db_query("CREATE INDEX k_" .. table_id .. " ON " .. name .. "(k)")
   end
end

function prepare()
   set_vars()
   db_connect()
   for table_id = 1, oltp_tables_count do
      create_insert(table_id)
   end
end

function cleanup()
   set_vars()
   local con = sysbench.sql.driver():connect()
   for table_id = 1, oltp_tables_count do
      print("Dropping table 'sbtest" .. table_id .. "'...")
      con:drop_benchmark_table("sbtest" .. table_id)
   end
end
