#!/bin/sh
# Prints running, success or failed for one LSF job id.
case $(bjobs -noheader -o stat "$1" 2>/dev/null) in
    DONE) echo success ;;
    EXIT | ZOMBI | "") echo failed ;;
    *) echo running ;;
esac
