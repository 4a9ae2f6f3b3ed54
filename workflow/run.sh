#!/bin/sh
# Run the study on all cores, then write the report where results changed. Arguments go to snakemake.
set -eu
report=results/report.html
snakemake --cores all "$@"
if [ "$report" -nt results/manifest.json ]; then
    echo "Nothing changed since the last run; the report is up to date."
else
    echo "Writing $report ..."
    # Snakemake leaves a coroutine behind when it asks for the size of an input in a report; harmless, and noisy.
    PYTHONWARNINGS=ignore::RuntimeWarning snakemake "$@" --report "$report" --quiet all
fi
cat <<TXT

Where to look:
  $report   every table and figure, with captions; opens offline
  results/{data set}/      tables (csv, md, tex, html, parquet) and figures (pdf, svg, png)
  results/manifest.json    digest of every file made
TXT
