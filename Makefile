# qdrank: two commands do everything on a fresh machine: `make run` and `make test`. Both make .venv when it is missing or stale.

# The first Python that is recent enough; `make run PYTHON=...` names another.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
# Named after what it was made from: an edited lock makes it stale, a fresh checkout of the same lock does not.
READY := $(VENV)/.made-from-$(shell cksum < requirements/dev.txt | cut -d' ' -f1)
CONFIG ?= config/first.yaml
DIRECTORY ?= .

.PHONY: help setup run findings test test-full test-cluster golden golden-write lint bench picture docs lock clean
.DEFAULT_GOAL := help

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

setup: $(READY) ## set up .venv, compile the kernels, and look for what would stop a run
	@PATH="$(CURDIR)/$(BIN):$$PATH" qdrank doctor --compile

run: $(READY) ## run a first study on all cores: results/index.html (CONFIG=file for another, DIRECTORY=folder for its results)
	@PYTHONPATH="$(CURDIR)/src" PATH="$(CURDIR)/$(BIN):$$PATH" qdrank run $(CONFIG) --directory "$(DIRECTORY)"

# Every configuration that a table on the pages comes from (docs/ledger.yaml has the same list); each has a folder of its own.
# STUDY=lin is for those that name this study, and for it alone: hours less.
ALL_FINDINGS := hybrid-dense sources dense-neighbours claims seeds nfcorpus affine hoi2008 hybrid
FINDINGS := $(if $(STUDY),$(basename $(notdir $(shell grep -lw 'studies: .*$(STUDY)' $(ALL_FINDINGS:%=config/%.yaml)))),$(ALL_FINDINGS))
findings: $(READY) $(patsubst %,runs/%/resources/runs,$(filter hybrid hybrid-dense,$(FINDINGS))) ## run all configurations behind the studies' pages, and write docs/verdicts (hours; goes on where it was stopped)
	$(if $(FINDINGS),,$(error no configuration behind the pages names a study $(STUDY)))
	@for name in $(FINDINGS); do PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/snakemake --cores all --rerun-incomplete \
	  --max-jobs-per-timespan 1000/60s --directory runs/$$name --configfile config/$$name.yaml $(if $(STUDY),--config 'studies=[$(STUDY)]') -- decide_claims || exit 1; done
	@for name in $(FINDINGS); do for file in runs/$$name/results/findings/*.parquet; do \
	  to=docs/findings/$$(basename $$file .parquet); mkdir -p $$to && cp $$file $$to/$$name.parquet || exit 1; done; done
	$(BIN)/qdrank findings

# The runs that config/hybrid.yaml fuses.
TREC_DL := first-BM25 first-BM25_RM3 BM25_deepct BM25_docT5q first-SPLADE_P_P_ENSEMBLE_DISTIL ANCE first-D_BERT_KD_TASB \
  first-OPEN_AI_ADA2 first-REP_LLAMA
runs/hybrid/resources/runs: $(READY)
	for name in cranfield cisi scifact mq2007-agg mq2008-agg; do $(BIN)/qdrank retrieve $$name --output $@.part/$$name || exit 1; done
	$(BIN)/qdrank retrieve nfcorpus --judgments beir --output $@.part/nfcorpus
	$(BIN)/qdrank retrieve nfcorpus --judgments direct --output $@.part/nfcorpus-direct
	mkdir -p $@.part/trec-dl/runs
	cd $(QDRANK_MIRROR)/runs/trec-dl && for name in $(TREC_DL); do \
	  cat 2019/$$name.run.xz 2020/$$name.run.xz > $(CURDIR)/$@.part/trec-dl/runs/$$name.run.xz || exit 1; done
	cat $(QDRANK_MIRROR)/runs/trec-dl/20*/qrels.txt.xz > $@.part/trec-dl/qrels.txt.xz
	mv $@.part $@

# Those of config/hybrid-dense.yaml.
runs/hybrid-dense/resources/runs: $(READY)
	for name in cranfield cisi time scifact squad-dev worldtree2; do \
	  $(BIN)/qdrank retrieve $$name --method bm25 --method dense --encoder minilm --output $@.part/$$name-dense || exit 1; done
	$(BIN)/qdrank retrieve nfcorpus --judgments direct --method bm25 --method dense --encoder minilm --output $@.part/nfcorpus-dense
	mv $@.part $@

PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal --durations=40
test: $(READY) ## run the tests of every day
	$(PYTEST)

test-full: $(READY) ## run all tests, an hour and more: also many kills, full-size simulations, every learner, a real SLURM (as root)
	$(PYTEST) -m "" --hypothesis-profile=full
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then $(MAKE) test-cluster OF_CLUSTER=; fi

OF_CLUSTER := -m "not full"
test-cluster: $(READY) ## run the two tests of every day on a real SLURM (needs root and apt)
	$(BIN)/python -m pytest --override-ini addopts= $(OF_CLUSTER) -s --durations=5 tests/cluster

golden: $(READY) ## compare the first study and a tiny one, run in build/golden, with what they came to before (STUDY=tiny for one)
	$(BIN)/python -m tests.golden $(STUDY)

golden-write: $(READY) ## keep what they come to now
	$(BIN)/python -m tests.golden --write $(STUDY)

lint: $(READY) ## ruff, mypy, snakefmt, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/snakemake --lint

bench: $(READY) ## run the benchmarks, one after another, and at the end a table of ratios to other solvers (benchmarks/peers.md)
	@for script in bench/bench_*.py bench/peers.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

picture: $(READY) ## draw the graph of the rules in docs/architecture.md anew, and write the rules of its study
	$(BIN)/python docs/rulegraph.py

docs: ## build the documentation as a site: build/site/index.html
	@test -x build/docs/bin/mkdocs || { $(PYTHON) -m venv build/docs && \
	  build/docs/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/docs.txt; }
	NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --strict --quiet
	@echo "Open build/site/index.html"

RESOLVE = build/lock/bin/uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-header

lock: ## resolve the requirements anew (needs the uv command, taken from a throw-away environment)
	$(PYTHON) -m venv build/lock && build/lock/bin/pip install --quiet uv
	$(RESOLVE) pyproject.toml --extra workflow --output-file requirements/run.txt $(LOCKFLAGS)
	$(RESOLVE) pyproject.toml --all-extras --group dev --output-file requirements/dev.txt $(LOCKFLAGS)
	$(RESOLVE) --group docs --output-file requirements/docs.txt $(LOCKFLAGS)
	$(PYTHON) envs/generate.py

clean: ## remove what runs and tools made; downloads and .venv stay
	rm -rf results .snakemake logs benchmarks build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

$(READY):
	@test -n "$(PYTHON)" || { echo "qdrank needs Python 3.11, 3.12 or 3.13: install one, or name it with PYTHON=..."; exit 1; }
	@echo "setting up $(VENV) from requirements/dev.txt (about two minutes, once)"
	rm -rf $(VENV)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)
