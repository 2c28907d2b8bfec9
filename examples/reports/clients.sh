#!/usr/bin/env bash
# Two databases under one, two and three clients, which begin at the same time and are added in the report.
# clients.sh [--full]; on machines of their own, start each client there and import its records.
set -euo pipefail

tidemark=${TIDEMARK:-tidemark}
tag=clients${1:+-full}
tables=2 rows=10000 threads=4 time=6
if [ "${1:-}" = --full ]; then
    tables=8 rows=500000 threads=32 time=60
fi
begun=$(date +%Y-%m-%dT%H:%M:%S)
work=(--tables="$tables" --table-size="$rows" --threads="$threads")

up=()
down() {
    for name in "${up[@]}"; do "$tidemark" down "$name"; done
}
trap down EXIT

for engine in mariadb postgres; do
    url=$("$tidemark" up "$engine" --name "clients-$engine")
    up+=("clients-$engine")
    "$tidemark" sysbench oltp_read_write --target="$url" "${work[@]}" prepare
    for clients in 1 2 3; do
        runs=()
        for _ in $(seq "$clients"); do
            "$tidemark" sysbench oltp_read_write --target="$url" "${work[@]}" --warmup-time=2 --time="$time" \
                run > /dev/null &
            runs+=($!)
        done
        for run in "${runs[@]}"; do wait "$run"; done
    done
done

runs=$("$tidemark" runs --since "$begun" --limit 100 | awk 'NR > 1 { print $1 }')
"$tidemark" tag $runs "+$tag"
