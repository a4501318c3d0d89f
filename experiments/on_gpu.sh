#!/usr/bin/env bash
# What is learned, on one GPU: many processes share it, and within a process all seeds of a method are one computation.
# Needs python with numpy, torch and safetensors, and nothing else; goes on where it stopped.
#
#     experiments/on_gpu.sh OUT [SECONDS [NAME...]]     no pack of seeds is begun after SECONDS (480); NAME: accuracy
#     cat OUT/*.jsonl > all.jsonl; actcause reproduce --take all.jsonl
set -u
cd "$(dirname "$0")/.."
out=${1:?a folder for the results}
seconds=${2:-480}
shift $(($# < 2 ? $# : 2))
most=26 # processes at a time
together=10 # pieces of one computation
mkdir -p "$out"
export PYTHONPATH=src OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1
# NVIDIA's multi-process service lets small networks of several processes run side by side; without it they take turns.
if command -v nvidia-cuda-mps-control > /dev/null; then nvidia-cuda-mps-control -d 2> /dev/null; fi
domains="push break 3-in d-20 3-chain 2-in 3-m-in tau-1 1-in" # the longest first
worlds="ale-breakout highway mujoco-pucks fetch-push fetch-slide door-key reactor"
noisy="push+0.1 push+0.3 break+0.3 3-m-in+0.2 1-in+0.2 tau-1+0.2"
others=told,never,always,proximity,granger,cf,attn,grad,cmi,ncd,ncii,jaci-em,jaci-exchange,jaci # the quickest first
count=0

run() { # NAME [--only FIELD=VALUES]...: a process of its own, once there is room for it
    while [ "$(jobs -rp | wc -l)" -ge "$most" ]; do sleep 0.2; done
    count=$((count + 1))
    local left=$((seconds - SECONDS))
    [ "$left" -gt 0 ] || return 0
    python3 -m actcause.reproduction "$@" --device cuda --max-seconds "$left" --together "$together" \
        --archive "$out/$1-$count.jsonl" > "$out/$1-$count.log" 2>&1 &
}

for name in "${@:-accuracy}"; do
    case $name in
    accuracy)
        for domain in $domains; do
            run accuracy --only "domain=$domain" --only method=jaci
            run accuracy --only "domain=$domain" --only method=jaci-em
        done
        for domain in $domains; do
            run accuracy --only "domain=$domain" --only method=grad,attn,cf,cmi,ncd,granger,proximity,never,always
        done
        ;;
    longer)
        for times in 4 1; do
            for domain in $domains 1-in-increments; do
                run longer --only "domain=$domain" --only "times=$times"
            done
        done
        ;;
    calibration | penalty_choice)
        for domain in $domains; do
            run "$name" --only "domain=$domain"
        done
        ;;
    worlds) # recorded elsewhere, if there are no simulators: experiments/record_worlds.py
        for world in $worlds; do
            run worlds --only "world=$world" --only method=jaci-auto
        done
        for world in $worlds; do
            run worlds --only "world=$world" --only "method=$others"
        done
        ;;
    noise)
        for case in $noisy; do
            run noise --only "domain=${case%+*}" --only "noise=${case#*+}" --only method=jaci-auto
        done
        for case in $noisy; do
            run noise --only "domain=${case%+*}" --only "noise=${case#*+}" --only "method=rules,${others#told,}"
        done
        ;;
    rl_relabel) # all seeds and all ways of a task; pucks and FetchPush are for on_cores.sh
        together=40
        for task in push-crowd push-noise push; do
            run rl_relabel --only "task=$task" --only way=her,true,online,moved
        done
        together=10
        ;;
    rl_bonus) # all seeds and all ways of a task
        together=64
        for task in push-12 push-16; do
            run rl_bonus --only "task=$task"
        done
        together=10
        ;;
    *) run "$name" ;;
    esac
done
wait
tail -n 3 "$out"/*.log
