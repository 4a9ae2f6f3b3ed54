#!/bin/sh
# Prints running, success or failed for one PBS job id; -x also asks for jobs that have ended.
shown=$(qstat -x -f "$1" 2>/dev/null)
case $shown in
    *"job_state = F"* | *"job_state = C"* | *"job_state = X"*)
        case $shown in *[Ee]"xit_status = 0"*) echo success ;; *) echo failed ;; esac ;;
    *"job_state = "*) echo running ;;
    *) echo failed ;;
esac
