# SPDX-License-Identifier: BSD-2-Clause
#
# The commands a person types. Each target says what it does behind its `##`; `make help` prints them.

BIN := .venv/bin
FAST := not slow and not e2e and not long
# A process a processor; a file stays in one, so that what its tests share is made once.
PYTEST := $(BIN)/pytest -n auto --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help run setup setup-dev setup-all setup-bench test test-fast test-long kernel-test lint format catalogue site bench aa planted mutate doctor clean
.DELETE_ON_ERROR:

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: setup ## measure the Linux this runs on and print the table
	$(BIN)/cyclometer run

setup: .venv/setup.stamp ## install what `run` needs: .venv, compiler
setup-dev: .venv/setup-dev.stamp ## install what `lint` and `test-fast` need, too: no emulator
setup-all: .venv/setup-all.stamp ## install what `test` needs, too

setup-bench: setup-all ## install what `bench` sets beside this project, too
	tools/setup.sh setup-bench

# A stamp is touched only after a set-up that ended well; the larger set-up contains the smaller.
.venv/setup.stamp: tools/setup.sh pyproject.toml
	tools/setup.sh setup
	@touch $@

.venv/setup-dev.stamp: tools/setup.sh pyproject.toml
	tools/setup.sh setup-dev
	@touch .venv/setup.stamp $@

.venv/setup-all.stamp: tools/setup.sh pyproject.toml
	tools/setup.sh setup-all
	@touch .venv/setup.stamp .venv/setup-dev.stamp $@

test: setup-all lint core-test kernel-test ## check and test everything but what `test-long` adds
	$(BIN)/python tools/check_catalogue.py
	$(PYTEST) -m 'not long'

test-long: setup-all ## every circle on the simulated core, cycle by cycle: a quarter of an hour
	$(PYTEST) -m long

test-fast: lint core-test ## as test, without what takes minutes, emulators or the real harness
	$(PYTEST) -m '$(FAST)'

.PHONY: core-test
core-test:
	@if [ -d core/test ]; then $(MAKE) --no-print-directory -C core/test test; fi

kernel-test: setup-all ## the reference kernel: functional tests, hostile programs, counts and sequences, four configurations
	$(MAKE) --no-print-directory -s -C kernel test
	$(MAKE) --no-print-directory -s -C kernel userspace=off test
	$(MAKE) --no-print-directory -s -C kernel board=sifive_u mcs=on test
	$(MAKE) --no-print-directory -s -C kernel accounting=on test
	$(MAKE) --no-print-directory -s -C kernel directions

C_FILES = $(shell git ls-files '*.c' '*.h' '*.cpp')

lint: setup-dev ## ruff, clang-format, mypy --strict and the one-rule checks of tools/
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/clang-format --dry-run -Werror $(C_FILES)
	$(BIN)/mypy --strict src
	$(BIN)/python tools/check.py

format: setup-dev ## rewrite the Python and C files in one style
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(C_FILES)

catalogue: setup-all ## write docs/catalogue.md and docs/catalogue/ anew from the circles' contracts
	$(BIN)/python tools/catalogue.py

site: setup-dev ## build the documentation site into build/site; links are strict
	$(BIN)/python tools/documentation.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

bench: setup-all ## precision and A/A beside other tools, speed of all parts (BENCH=live: this Linux alone, five minutes)
	$(BIN)/python tools/bench.py $(BENCH)

aa: setup-all ## sessions of this machine against each other: every change called is a false one (half an hour; AA='--help')
	$(BIN)/python tools/aa.py $(AA)

planted: setup-all ## slow-downs of known size in every circle, and how many are found (two minutes; PLANTED='--help')
	$(BIN)/python tools/planted.py $(PLANTED)

mutate: setup-all ## break the estimators one operator at a time; every break must turn a test red
	nice $(BIN)/python tools/mutate.py

doctor: setup ## what this machine does to measurements, and what would change it
	$(BIN)/cyclometer doctor

clean: ## remove all that was built or installed here; measurements in results/ stay
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
