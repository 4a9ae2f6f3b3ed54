#!/bin/sh
# Prints running, success or failed for one HTCondor job id: 1 idle, 2 running, 5 held, 6 and 7 on their way, 3 removed, 4 completed.
case $(condor_q "$1" -autoformat JobStatus 2>/dev/null) in
    1 | 2 | 6 | 7) echo running ;;
    3 | 5) echo failed ;;
    *) case $(condor_history "$1" -limit 1 -autoformat ExitCode 2>/dev/null) in 0) echo success ;; *) echo failed ;; esac ;;
esac
