//! Tables of other collectors, and files of a cluster's hosts. We wrote them.

/// Name and text of each: the mapping, `%%`, the table.
pub const SERIES: &[(&str, &str)] = &[
    (
        "epoch",
        "source = \"vmstat\"\n[time]\ncolumn = \"at\"\nformat = \"epoch\"\n[[column]]\ncolumn = \"us\"\n\
         name = \"cpu.user\"\nunit = \"ratio\"\nscale = 0.01\n[[column]]\ncolumn = \"cs\"\n\
         name = \"context-switches\"\nunit = \"1/s\"\nmeasures = \"rate\"\nlabels = { host = \"db1\" }\n\
         %%\nat,us,sy,cs\n1699999999,9,1,9\n1700000000,12.5,1,100\n1700000005,25,1,200\n\
         1700000010,50,1,x\n\n1700003601,9,1,9\n",
    ),
    (
        "labels",
        "delimiter = \" \"\nskip_lines = 1\n[time]\ncolumn = [1, 2]\nformat = \"%Y-%m-%d %H:%M:%S\"\n\
         zone = \"+08:00\"\n[[column]]\ncolumn = 4\nname = \"disk.busy\"\nunit = \"ratio\"\n\
         source = \"iostat\"\ndigits = 3\nlabels_from = { disk = 3 }\n%%\nLinux 6.1 (db1)\n\
         day time disk util\n2023-11-15 06:13:30 sda 0.5\n2023-11-15 06:13:30 sdb 0.25\n\
         2023-11-15 06:13:31 sda 1e-3\n2023-11-15 06:13:30 sda 7\n",
    ),
    (
        "quoted",
        "source = \"dstat\"\n[time]\ncolumn = \"time\"\nformat = \"%d-%m %H:%M:%S\"\n[[column]]\n\
         column = \"usr\"\nname = \"cpu.user\"\nunit = \"%\"\n%%\n\"Dstat 0.7.4 CSV output\"\n\
         \"Host:\",\"db1\",,,\"User:\",\"root\"\n\n\"system\",\"total cpu usage\",\n\"time\",\"usr\",\"sys\"\n\
         \"14-11 22:13:30\",25.5,1\n\"14-11 22:13:31\",\"26,5\",1\n\"time\",\"usr\",\"sys\"\n\"14-11 22:13:29\",24,1\n",
    ),
    (
        "wrong",
        "sorce = \"x\"\n[time]\nformat = 1\n[[column]]\nscale = 0\n%%\n",
    ),
];

/// Name and text of each.
pub const TOPOLOGIES: &[(&str, &str)] = &[
    (
        "cluster",
        "global:\n\x20 user: tidb\n\x20 deploy_dir: /tidb-deploy\nserver_configs:\n\x20 tidb:\n\
         \x20   log.slow-threshold: 500\n\x20   token-limit: 2000\n\x20 tikv:\n\x20   raftstore:\n\
         \x20     apply-pool-size: 3\n\x20   storage.block-cache.capacity: 16GB\n\x20   backup.hadoop.linux-password: geheim1\n\
         \x20 pd:\n\x20   replication.location-labels: [zone, host]\ncomponent_versions:\n\
         \x20 tikv: v8.5.1\npd_servers:\n\x20 - host: 10.0.1.1\ntidb_servers:\n\x20 - host: 10.0.1.1\n\
         \x20   port: 4001\n\x20   status_port: 10081\n\x20   config:\n\x20     performance.max-procs: 8\n\
         tikv_servers:\n\x20 - host: 10.0.1.2\n\x20 - host: \"fd00::3\"\nmonitoring_servers:\n\
         \x20 - host: 10.0.1.4\n",
    ),
    (
        "anchors",
        "tikv_servers:\n\x20 - &first\n\x20   host: 10.0.1.2\n\x20   config: &c {a: 1, b.c: [x, y]}\n\
         \x20 - host: 10.0.1.3\n\x20   config: *c\ntidb_servers: [{host: 10.0.1.1, config: *c}, *first]\n",
    ),
    (
        "nested",
        "server_configs: {tidb: {a: {b: {c: {d: [[[[1]]]]}}}}}\ntidb_servers: [{host: h}]\n",
    ),
    (
        "wrong",
        "tikv_server:\n- host: 10.0.1.1\n\x20 port: 99999\n--- |\n\x20 other\n",
    ),
    ("no-yaml", "a: [b, {c: \"d\n"),
];
