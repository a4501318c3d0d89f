#!/usr/bin/env bash
# What needs MuJoCo or no GPU at all, on many CPU cores: a process for each seed. Goes on where it stopped.
# Needs python with numpy, torch, gymnasium, mujoco and gymnasium-robotics. Where these cannot be installed, unpack their
# wheels and those that they import into a folder, and name it in CARRIED.
#
#     experiments/on_cores.sh OUT [SECONDS [NAME...]]     nothing is begun after SECONDS (480); NAME: rl_relabel
#     cat OUT/*.jsonl > all.jsonl; actcause reproduce --take all.jsonl
set -u
cd "$(dirname "$0")/.."
out=${1:?a folder for the results}
seconds=${2:-480}
shift $(($# < 2 ? $# : 2))
most=16 # processes at a time
mkdir -p "$out"
export PYTHONPATH="src${CARRIED:+:$CARRIED}" OMP_NUM_THREADS=1 MUJOCO_GL=disabled PYTHONUNBUFFERED=1
count=0

run() { # NAME [--only FIELD=VALUES]...: a process of its own, once there is room for it
    while [ "$(jobs -rp | wc -l)" -ge "$most" ]; do sleep 0.2; done
    count=$((count + 1))
    local left=$((seconds - SECONDS))
    [ "$left" -gt 0 ] || return 0
    python3 -m actcause.reproduction "$@" --device cpu --max-seconds "$left" \
        --archive "$out/$1-$count.jsonl" > "$out/$1-$count.log" 2>&1 &
}

for name in "${@:-rl_relabel}"; do
    case $name in
    rl_relabel) # all ways of a seed are one computation
        for seed in 0 1 2 3 4 5 6 7; do
            run rl_relabel --only task=pucks-near --only way=her,true,moved --only "seed=$seed" --together 8
        done
        for seed in 0 1 2; do
            run rl_relabel --only task=fetch --only way=her,true --only "seed=$seed" --together 8
        done
        ;;
    chains) # the longest first
        for domain in mujoco-pucks break push; do
            for graphs in contacts true learned; do
                for seed in 0 1 2 3; do
                    run chains --only "domain=$domain" --only "graphs=$graphs" --only "seed=$seed"
                done
            done
        done
        ;;
    rl_augment) # all but the two ways that take a GPU
        for seed in 0 1 2; do
            for world in pucks push-5 break push-8; do
                run rl_augment --only "world=$world" --only "seed=$seed" \
                    --only way=contacts,contacts-every,true-every,near-every,near,anything,unasked,true
            done
        done
        ;;
    *) run "$name" ;;
    esac
done
wait
tail -n 1 "$out"/*.log
