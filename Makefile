.PHONY: help setup demo studio test check

help:
	@echo "make demo    the whole loop on this machine (runs/quickstart); again: goes on; FRESH=1 starts over"
	@echo "make studio  serves every graph for LangGraph Studio on this machine"
	@echo "make test    the test suite; MARK='not browser and not slow' chooses by marker"
	@echo "make check   what CI checks beside the tests: format, lint, types, import direction"

setup:
	@bash scripts/setup.sh

demo: setup
	@.venv/bin/agent-world evolve --config configs/quickstart.yaml $(if $(FRESH),--fresh)

studio: setup
	@.venv/bin/langgraph dev --allow-blocking $(ARGS)

test: setup check
	@.venv/bin/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(if $(MARK),-m "$(MARK)") --cov --cov-report=term:skip-covered $(ARGS)

check: setup
	@.venv/bin/ruff format --check -q .
	@.venv/bin/ruff check -q .
	@.venv/bin/python scripts/check.py
