#!/bin/sh
# Prints running, success or failed for one SLURM job id. Asks the controller, so no accounting database is needed;
# an id that it no longer knows (MinJobAge after the end) counts as failed, and the job is tried again.
for try in 1 2 3; do
    shown=$(scontrol show job --oneliner "$1" 2>&1) && break
    case $shown in *"Invalid job id"*) break ;; esac
    sleep 2 # the controller is busy or restarts: the job is not lost for that
done
case $shown in
    *JobState=COMPLETED*) echo success ;;
    *JobState=PENDING* | *JobState=CONFIGURING* | *JobState=RUNNING* | *JobState=COMPLETING*) echo running ;;
    *JobState=SUSPENDED* | *JobState=STOPPED* | *JobState=REQUEUE* | *JobState=RESIZING*) echo running ;;
    *JobState=STAGE_OUT* | *JobState=SIGNALING* | *JobState=SPECIAL_EXIT* | *"Unable to contact"*) echo running ;;
    *) echo failed ;;
esac
