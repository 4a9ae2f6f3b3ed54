#!/bin/sh
# Stop what start.sh started: stop.sh STATE. Jobs that are left are cancelled; processes are ended by their id.
state=$1
scancel --user=root --full >/dev/null 2>&1
for _ in $(seq 50); do
    [ -z "$(squeue --noheader 2>/dev/null)" ] && break
    sleep 0.2
done
pids=$(cat "$state"/slurmd.*.pid "$state/slurmctld.pid" "$state/munged.pid" 2>/dev/null)
for pid in $pids; do kill "$pid" 2>/dev/null; done
for _ in $(seq 50); do
    left=0
    for pid in $pids; do
        # A zombie has ended: only its parent has not looked yet.
        case $(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2>/dev/null) in '' | Z) ;; *) left=1 ;; esac
    done
    [ $left = 0 ] && break
    sleep 0.2
done
grep -q "^# qdrank test cluster" /etc/slurm/slurm.conf 2>/dev/null && rm /etc/slurm/slurm.conf
exit 0
