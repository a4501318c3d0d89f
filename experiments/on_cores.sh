#!/usr/bin/env bash
# Agents in MuJoCo's worlds (`rl_relabel`), on CPU cores: a process for each seed, with all ways of it.
# Needs python with numpy, torch, gymnasium, mujoco and gymnasium-robotics. Where these cannot be installed, unpack their
# wheels and those that they import into a folder, and name it in CARRIED.
#
#     experiments/on_cores.sh OUT [TASK:WAYS:SEEDS...]
#     cat OUT/*.jsonl > all.jsonl; actcause reproduce --take all.jsonl
set -u
cd "$(dirname "$0")/.."
out=${1:?a folder for the results}
shift
mkdir -p "$out"
export PYTHONPATH="src${CARRIED:+:$CARRIED}" OMP_NUM_THREADS=1 MUJOCO_GL=disabled PYTHONUNBUFFERED=1
[ $# -gt 0 ] || set -- pucks-near:her,true,moved:0,1,2,3,4,5,6,7 fetch:her,true:0,1,2
for job in "$@"; do
    IFS=: read -r task ways seeds <<< "$job"
    for seed in ${seeds//,/ }; do
        python3 -m actcause.reproduction rl_relabel --only "task=$task" --only "way=$ways" --only "seed=$seed" \
            --together 8 --device cpu --archive "$out/$task-$seed.jsonl" > "$out/$task-$seed.log" 2>&1 &
    done
done
wait
tail -n 1 "$out"/*.log
