#!/bin/bash
# A run from four nodes: sbatch slurm.sh. NATS_USER, NATS_PASSWORD and MYSQL_PWD come from the submitting
# environment; the first node also has the NATS server and the coordinator.
#SBATCH --job-name=tidemark --nodes=5 --ntasks-per-node=1 --exclusive --time=01:00:00
set -euo pipefail
mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
export NATS_URL="nats://${hosts[0]}:4222"
folder=$(mktemp -d)
trap 'kill $(jobs -p) || true; rm -rf "$folder"' EXIT
cat >"$folder/nats.conf" <<CONF
port: 4222
jetstream { store_dir: "$folder" }
authorization { user: \$NATS_USER, password: \$NATS_PASSWORD }
CONF
nats-server --config "$folder/nats.conf" &
for host in "${hosts[@]:1}"; do
    # A step has one processor unless it asks for more.
    srun --nodes=1 --ntasks=1 --cpus-per-task="$SLURM_CPUS_ON_NODE" --cpu-bind=none --nodelist="$host" \
        tidemark agent --name="${host%%.*}" --wait=1m &
done
until [[ $(tidemark agents | grep -c ' free$') -eq 4 ]]; do sleep 1; done
tidemark sysbench oltp_read_only --clients=4 --threads=4000 --time=600 --target=mysql://user@db/sbtest run
