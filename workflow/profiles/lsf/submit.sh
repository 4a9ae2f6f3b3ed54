#!/bin/sh
# Submits a job script to LSF and prints the job's id: bsub says "Job <123> is submitted to queue <normal>."
bsub "$@" | sed -n 's/^Job <\([0-9]*\)>.*/\1/p'
