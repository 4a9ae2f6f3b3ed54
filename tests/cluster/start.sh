#!/bin/sh
# Start a SLURM of 4 nodes on this machine, as root: start.sh STATE, where STATE is an empty folder. stop.sh ends it.
# Writes /etc/slurm/slurm.conf, because job steps lose the variable that would name another place.
set -eu
state=$1
nodes=4
here=$(cd "$(dirname "$0")" && pwd)
conf=/etc/slurm/slurm.conf
if [ -e $conf ] && ! grep -q "^# qdrank test cluster" $conf; then
    echo "$conf is there and not from here: this machine belongs to a real cluster" >&2
    exit 3
fi
mkdir -p "$state/controller" /etc/slurm
sed -e "s|@HOST@|$(hostname -s)|g; s|@STATE@|$state|g; s|@NODES@|$nodes|g" "$here/slurm.conf.in" >$conf

# munge signs what the daemons say to each other.
if ! munge -n >/dev/null 2>&1; then
    mkdir -p /run/munge
    chown munge:munge /run/munge
    chmod 755 /run/munge
    [ -s /etc/munge/munge.key ] || { mungekey --create --force && chown munge:munge /etc/munge/munge.key; }
    setpriv --reuid=munge --regid=munge --clear-groups munged
    cp /run/munge/munged.pid "$state/munged.pid" # stop.sh ends it only if it was started here
fi

slurmctld
for i in $(seq $nodes); do
    mkdir -p "$state/n$i"
    slurmd -N "n$i"
done
for _ in $(seq 150); do
    idle=$(sinfo --noheader --Node --states=idle --format=%N 2>/dev/null | sort -u | wc -l)
    [ "$idle" = $nodes ] && exec sinfo --Node --long
    sleep 0.2
done
echo "the nodes did not come up:" >&2
sinfo --Node --long >&2 || true
tail -n 20 "$state"/*.log >&2
exit 1
