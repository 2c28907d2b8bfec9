#!/usr/bin/env bash
# Two databases under one, two and three clients, which begin at the same time and are added in the report.
# All clients together have the same number of sessions: what differs is by how many they are driven.
# clients.sh [--full]; on machines of their own, start each client there and import its records.
set -euo pipefail

tidemark=${TIDEMARK:-tidemark}
tag=clients${1:+-full}
tables=2 rows=10000 sessions=12 time=6 repeats=3
if [ "${1:-}" = --full ]; then
    tables=8 rows=500000 sessions=96 time=60
fi
begun=$(date +%Y-%m-%dT%H:%M:%S)
work=(--tables="$tables" --table-size="$rows")

up=()
down() {
    for name in "${up[@]}"; do "$tidemark" down "$name"; done
}
trap down EXIT

for engine in mariadb postgres; do
    url=$("$tidemark" up "$engine" --name "clients-$engine")
    up+=("clients-$engine")
    "$tidemark" sysbench oltp_read_write --target="$url" "${work[@]}" prepare
    for _ in $(seq "$repeats"); do
        for clients in 1 2 3; do
            runs=()
            for _ in $(seq "$clients"); do
                "$tidemark" sysbench oltp_read_write --target="$url" "${work[@]}" --threads=$((sessions / clients)) \
                    --warmup-time=2 --time="$time" run > /dev/null &
                runs+=($!)
            done
            for run in "${runs[@]}"; do wait "$run"; done
        done
    done
done

runs=$("$tidemark" runs --since "$begun" --limit 100 | awk 'NR > 1 { print $1 }')
"$tidemark" tag $runs "+$tag"
