-- `sysbench.histogram` and the reports that hooks may call.
local host = ...
local error, math, pairs, setmetatable, string, tostring, type =
   error, math, pairs, setmetatable, string, tostring, type

-- Raises a message with the script's line.
local function raise(message)
   error(message .. ": " .. host.place(), 0)
end

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

return {histogram = histogram, default = report_default, csv = report_csv, json = report_json}
