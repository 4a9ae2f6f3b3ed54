#!/bin/sh
# Submits a job script to HTCondor and prints the job's id: submit.sh NAME THREADS MEGABYTES MINUTES SCRIPT
condor_submit -terse - <<END | sed 's/ .*//'
executable = $5
initialdir = $PWD
getenv = True
should_transfer_files = NO
request_cpus = $2
request_memory = $3
+MaxRuntime = $(($4 * 60))
log = $PWD/logs/cluster/$1.condor
output = $PWD/logs/cluster/$1-\$(ClusterId).log
error = $PWD/logs/cluster/$1-\$(ClusterId).log
queue
END
