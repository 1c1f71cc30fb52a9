# On a fresh machine with git, make and Python 3.11 or newer these two do everything: make demo, make test.

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
BOXED := $(BIN)/python -m tools.agents.box --keep .pytest_cache/faults $(PYTEST) -p no:cacheprovider --basetemp /box/tests

# Where it is set, each run of the tests would compile all of them again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: browser services film screenshots docs vendor demo test test-agents test-machines soak-machines soak-agents check bench coverage mutants soak figures rows fmt man schemas reference size prices surface setup clean

demo: setup            # a whole team at work, from start to cleanup
	@command -v tmux >/dev/null || tools/install tmux || echo "setup: going on without tmux" >&2
	@$(BIN)/pro0 demo

test: setup browser services # every test but the long ones and the laws of the house, which `make check` has
	@command -v tmux >/dev/null || tools/install tmux || { echo "setup: the tests need tmux" >&2; exit 6; }
	@$(PYTEST) -n auto --dist worksteal --ignore tests/house -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true

test-agents: setup     # the real agent programs, in a box without a network
	@$(BIN)/python -m tools.agents.install
	@$(BOXED) -n 2 --dist worksteal -m "agents and not soak" tests/real_agents

test-machines: setup services # members on three machines apart, cut, asleep and rebooted; takes root, namespaces and sshd
	@unshare --net sh -c 'ip link set lo up && exec "$$@"' sh $(PYTEST) -m "machines and not soak" tests/machines

soak-machines: setup services # the same at two hundred drawn moments, one of them for ten minutes; takes half an hour
	@unshare --net sh -c 'ip link set lo up && exec "$$@"' sh $(PYTEST) -m "machines and soak" tests/machines

soak-agents: setup     # the same for an hour: two hundred messages to each of them, at any moment
	@$(BIN)/python -m tools.agents.install
	@$(BOXED) -m "agents and soak" tests/real_agents

check: setup           # form, types, and the laws of the house; meanwhile all tests are compiled, else each worker would do that
	@$(BIN)/ruff format --check --quiet . || { echo "hint: make fmt" >&2; exit 1; }
	@$(BIN)/ruff check --quiet .
	@failed=; log=$$(mktemp); $(PYTEST) --collect-only -qq >"$$log" 2>&1 & collected=$$!; \
		$(BIN)/mypy --no-error-summary || failed=1; \
		wait $$collected || { tail -n 40 "$$log"; failed=1; }; rm -f "$$log"; [ -z "$$failed" ]
	@$(PYTEST) -n 2 tests/house

bench: setup           # every figure, as tables
	@$(BIN)/python -m bench

coverage: setup        # every branch of the store, the rules and the processes, which their tests must all take
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -n auto tests/store tests/rules tests/processes tests/ops
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

mutants: setup         # small mistakes in the same code, of which tests must notice nine in ten; takes an hour
	@$(BIN)/python -m pip install --quiet --group mutation
	@$(BIN)/python -m tests.mutation

soak: setup docs       # the tests that take minutes, then the mutants: hours in all
	@command -v tmux >/dev/null || tools/install tmux || { echo "setup: the tests need tmux" >&2; exit 6; }
	@$(PYTEST) -m "soak and not agents" -n auto --dist worksteal --ignore tests/scenarios --ignore tests/soak
	@$(PYTEST) -m "soak and not agents" tests/scenarios tests/soak
	@$(MAKE) --no-print-directory mutants

figures: setup         # the tables of docs/faults.md, from what the tests have counted here
	@$(BIN)/python -m tests.crash.figures
	@$(BIN)/python -m tests.soak.figures
	@$(BIN)/python -m tests.scenarios.figures

rows: setup            # which requirements tests show, and what is open; the count goes into docs/behaviour.md
	@$(BIN)/python -m tests.rows

fmt: setup             # put the code in form
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

man: setup             # the manual pages, from the commands
	@$(BIN)/python -m tools.manpages

schemas: setup         # the JSON Schema of every stored file and the lists of tools, from their types
	@$(BIN)/python -m tools.schemas
	@$(BIN)/python -m tools.shapes
	@$(BIN)/python -m tools.toollists
	@$(BIN)/python -m tools.outputs
	@$(BIN)/python -m tools.openrpc

prices: setup          # the list prices of models, from the version of genai-prices that pyproject.toml names
	@$(BIN)/python -m tools.prices

size: setup            # how much an installation takes, as a clean environment has it
	@$(BIN)/python -m tools.install_size

surface: setup         # docs/surface.json, with what is new of the interface that programs may rely on
	@$(BIN)/python -m tools.surface

reference: setup       # docs/reference.md, from the tables of the program
	@$(BIN)/python -m tools.reference

setup:
	@tools/setup

browser:               # the distribution's Chromium, in which the page is tested
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
		|| tools/install chromium || { [ -z "$$CI" ] && echo "setup: the tests of the page are left out" >&2; }

services:              # at, cron, sshd, PostgreSQL, Node.js and man for the tests, in CI alone: on a machine of somebody's they would go on running
	@[ -z "$$CI" ] || for one in at:at cron:cron openssh-server:sshd openssh-client:ssh postgresql:pg_ctlcluster \
			nodejs:node man-db:man; do \
		PATH="$$PATH:/usr/sbin" command -v $${one#*:} >/dev/null || tools/install $${one%:*} \
			|| echo "setup: tests by $${one%:*} are left out" >&2; done

film: setup            # docs/film.svg, from a real run with a stand-in for the agent
	@$(BIN)/python -m tools.pictures.film

screenshots: setup browser # the pictures in docs
	@$(BIN)/python -m tools.pictures.stills
	@$(BIN)/python -m tools.pictures.page

docs: setup            # the pages as a site, below build/site, which needs no network
	@$(BIN)/python -m pip install --quiet --group docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "the site: build/site/index.html"

vendor: setup          # the page's libraries, anew from npm
	@$(BIN)/python -m tools.vendor

clean:                 # everything that is not in git, the environment too
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage htmlcov build dist mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
