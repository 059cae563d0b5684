# The commands of this project; `make help` lists them. Everything lives in .venv, nothing is installed elsewhere.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PYX    := $(shell find src -name '*.pyx' -o -name '*.pxd')
# Tests with real processes wait more than they compute: two cores serve three workers.
WORKERS ?= 3
PARALLEL = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --rerun-failed --durations 10
PIP    := $(BIN)/python -m pip --quiet --disable-pip-version-check install --constraint constraints.txt
# `make run SECONDS=60` ends by itself; the other targets have a number of their own.
RUN_SECONDS := $(if $(filter command,$(firstword $(origin SECONDS))),--seconds $(SECONDS))
RUN_LISTEN := $(if $(LISTEN),--listen $(LISTEN))
SECONDS ?= 600
SEEDS   ?= 10000
N       ?= 5
SPARK_KILLS := $(if $(filter command,$(firstword $(origin KILLS))),$(KILLS),30)
KILLS   ?= 200
MINUTES ?= 60
NODES   ?= 1

.PHONY: help run broker test test-all check format bench bench-quick instructions stalls flaky fuzz simulate compatibility parity kill torture soak spark vectors connect-vectors clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.installed: pyproject.toml constraints.txt setup.py
	@$(PYTHON) -m venv $(VENV) || { echo "python3 cannot make environments: run scripts/install-debian-packages (or apt-get install python3-venv)"; exit 1; }
	$(PIP) --upgrade pip setuptools Cython
	OTTLA_NO_EXTENSIONS=1 $(PIP) --no-build-isolation --editable '.[dev]'
# It is built from source, which takes a C compiler and half a minute; without it the tests with Kerberos skip.
	@if command -v krb5-config >/dev/null && command -v cc >/dev/null; then $(PIP) 'gssapi>=1.9'; fi
	@touch $@

$(VENV)/.built: $(VENV)/.installed $(PYX)
	@mkdir -p build
	@$(BIN)/python setup.py --quiet build_ext --inplace 2>build/extensions.log || { cat build/extensions.log; exit 1; }
	@$(BIN)/python -m ottla.base.accelerated
	@$(BIN)/python -m compileall -q src
	@touch $@

run: $(VENV)/.built  ## the main job: a broker, trucks and their pipeline on Spark, live in the terminal; SECONDS=60 ends it, LISTEN=127.0.0.1:9192 moves it
	@$(BIN)/ottla trucks $(RUN_SECONDS) $(RUN_LISTEN)

broker: $(VENV)/.built  ## a broker on this machine, with defaults: data in ./ottla-data, clients at 127.0.0.1:9092
	$(BIN)/ottla broker

# Hypothesis repeats itself (`CI`): what is new there is not the fault of what is tested now.
test: export CI := 1
test: check  ## what CI runs: checks, then the tests that take a quarter of an hour (compiled and plain)
	$(BIN)/python -m tests.harness.extensions
	$(PARALLEL) -m "not long"

test-all: check  ## all tests: also the long ones, and those with Apache Kafka beside us; Hypothesis explores
	$(BIN)/python -m tests.harness.extensions
	$(PARALLEL)

check: $(VENV)/.built  ## linter, types, layers, tidiness
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest tests/unit/test_tidy.py

format: $(VENV)/.built  ## lets the formatter have its way
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.built  ## figures, with ratios to Apache Kafka and to the codecs people use today
	$(BIN)/python -m tests.bench

bench-quick: $(VENV)/.built  ## the same, shorter and rougher
	$(BIN)/python -m tests.bench --quick

instructions: $(VENV)/.built  ## instructions per request and per record, by valgrind: the same on a busy machine
	$(BIN)/python -m tests.bench.instructions

$(VENV)/.fuzz: $(VENV)/.built
	OTTLA_NO_EXTENSIONS=1 $(PIP) --no-build-isolation --editable '.[dev,fuzz]'
	@touch $@

stalls: $(VENV)/.built  ## how long one client waits while another asks for something large, Apache Kafka beside it
	$(BIN)/python -m tests.stalls

flaky: $(VENV)/.built  ## the tests with real processes, N=5 times on a busy machine; lists what failed
	$(BIN)/python -m tests.harness.flaky --runs $(N)

fuzz: $(VENV)/.fuzz  ## coverage-guided fuzzing, SECONDS=600 for each target
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS)

simulate: $(VENV)/.built  ## clusters under crashes, partitions and lost writes, SEEDS=10000 of them
	$(BIN)/python -m ottla.testing.simulation --world quorum --seeds $(SEEDS)
	$(BIN)/python -m ottla.testing.simulation --world metadata --seeds $(SEEDS)
	$(BIN)/python -m ottla.testing.simulation --world coordinator --seeds $(SEEDS)

compatibility: $(VENV)/.built  ## writes docs/COMPATIBILITY.md from a run of the tests with foreign clients
	OTTLA_COMPATIBILITY=docs/COMPATIBILITY.md $(BIN)/python -m pytest tests/clients tests/parity

parity: $(VENV)/.built  ## asks Apache Kafka the questions of tests/parity again, and records its answers (needs Java and Maven)
	$(BIN)/python -m tests.parity.run --record

kill: $(VENV)/.built  ## kill -9 under load, KILLS=200 times, and as many disks that fail
	OTTLA_TEST_KILLS=$(KILLS) $(BIN)/python -m pytest tests/clients/test_kill.py tests/integration/node/test_kill_moves.py
	OTTLA_TEST_FAULTS=$(KILLS) $(BIN)/python -m pytest tests/integration/node/test_failing_disk.py

torture: $(VENV)/.built  ## real clients and brokers killed at random for SECONDS=600, their histories checked; then three nodes, plain and with security, and with clients of our own, then topics that change, then threads that meet
	$(BIN)/python -m tests.torture --seconds $(SECONDS)
	$(BIN)/python -m tests.torture --seconds $(SECONDS) --nodes 3
	$(BIN)/python -m tests.torture --seconds $(SECONDS) --nodes 3 --secure
	$(BIN)/python -m tests.torture --seconds $(SECONDS) --nodes 3 --own
	$(BIN)/python -m tests.torture --seconds $(SECONDS) --changes
	$(BIN)/python -m tests.torture --seconds $(SECONDS) --races

soak: $(VENV)/.built  ## MINUTES=60 of churn on NODES=1 or 3, and whether the nodes are back where they were after an equal warm-up
	$(BIN)/python -m tests.soak --minutes $(MINUTES) --nodes $(NODES)

$(VENV)/.connect: $(VENV)/.built
	OTTLA_NO_EXTENSIONS=1 $(PIP) --no-build-isolation --editable '.[dev,connect]'
	@touch $@

spark: $(VENV)/.connect  ## pipelines on Spark in their long form: KILLS=30 kills, 1,000 partitions, Apache Kafka beside ours
	OTTLA_TEST_PEER=1 OTTLA_TEST_SPARK_LARGE=1 OTTLA_TEST_SINK_KILLS=$(SPARK_KILLS) OTTLA_TEST_STREAMS_KILLS=$(SPARK_KILLS) $(BIN)/python -m pytest tests/integration/pipelines

vectors:  ## rewrites tests/vectors with Apache Kafka's own classes (needs Java and Maven)
	mvn --quiet --file tests/vectors/java/pom.xml compile exec:java -Dexec.args=tests/vectors
	mvn --quiet --file tests/vectors/streams/java/pom.xml compile exec:java -Dexec.args=tests/vectors/streams

connect-vectors: $(VENV)/.built  ## asks Apache Kafka Connect's own classes what tests/vectors/connect asks (needs Java and Maven)
	$(BIN)/python -m tests.vectors.connect build/connect-cases.jsonl
	mvn --quiet --file tests/vectors/connect/java/pom.xml compile exec:java -Dexec.args="build/connect-cases.jsonl build/connect-answers.jsonl"
	gzip --best --no-name --stdout build/connect-answers.jsonl >tests/vectors/connect/answers.jsonl.gz

clean:  ## removes what was built
	rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .hypothesis
	find src -name '*.so' -delete
