#!/bin/sh
# Run the study on all cores, then write the report where results changed. Arguments go to snakemake; the folder of the run is
# DIRECTORY, or the current one.
set -eu
folder=${DIRECTORY:-.}
report=results/report.html
# On a terminal a bar for each rule and the time left; plain lines in a log.
view=
if [ -t 2 ] && python -c 'import snakemake_logger_plugin_rich' 2>/dev/null; then view='--logger rich'; fi
snakemake --cores all $view --directory "$folder" "$@"
if [ "$folder/$report" -nt "$folder/results/manifest.json" ]; then
    echo "Nothing changed since the last run; the report is up to date."
else
    echo "Writing $folder/$report ..."
    # Snakemake leaves a coroutine behind when it asks for the size of an input in a report; harmless, and noisy.
    PYTHONWARNINGS=ignore::RuntimeWarning snakemake --directory "$folder" "$@" --report "$report" --quiet all
fi
echo "Start here: $folder/results/index.html. Every table and figure with its caption: $folder/$report"
