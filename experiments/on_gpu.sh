#!/usr/bin/env bash
# The accuracy table on one GPU: a process for each domain, all at the same time, and within a process all seeds of a
# method as one computation. Needs python with numpy, torch and safetensors, and nothing else; goes on where it stopped.
#
#     experiments/on_gpu.sh OUT [SECONDS]     results into OUT/*.jsonl; no pack is begun after SECONDS (480)
#     actcause reproduce --take OUT/1-in.jsonl
set -u
cd "$(dirname "$0")/.."
out=${1:?a folder for the results}
seconds=${2:-480}
mkdir -p "$out"
export PYTHONPATH=src OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1
# NVIDIA's multi-process service lets small networks of several processes run side by side; without it they take turns.
if command -v nvidia-cuda-mps-control > /dev/null; then nvidia-cuda-mps-control -d 2> /dev/null; fi
run() {
    python3 -m actcause.reproduction accuracy --device cuda --max-seconds "$seconds" --together "$3" \
        --only "domain=$1" --only "method=$2" --archive "$out/$1.jsonl"
}
for domain in push break 3-m-in 3-in 2-in 3-chain d-20 tau-1 1-in; do
    # The paper's algorithm has the largest networks: five seeds at a time, last.
    (run "$domain" jaci-em,grad,attn,cf,cmi,ncd,granger,proximity,never,always 10; run "$domain" jaci 5) \
        > "$out/$domain.log" 2>&1 &
done
wait
tail -n 3 "$out"/*.log
