# SPDX-License-Identifier: GPL-3.0-or-later
# Every target makes the environment that it needs (see tools/environment.sh) and leaves a complete one alone.
# BPY=4.2, 4.5, 5.0 or 5.2 chooses the Blender; without it, the newest that the Python found can run.

.DEFAULT_GOAL := help
.PHONY: help demo test version check test-blender test-core test-gui screenshots listing bench api docs zip wheel release format clean
.NOTPARALLEL:

# Tests start hundreds of processes: where the environment forbids to store bytecode, each would compile every module.
export PYTHONDONTWRITEBYTECODE :=

in_blender = python=$$(tools/environment.sh bpy $(BPY)) &&
in_checks = python=$$(tools/environment.sh check) &&

help:
	@echo "make demo      bake the example scene, print a table, save the .blend, a picture and a film"
	@echo "make test      format, lint, English, types, and all tests in Blender (GUI=no, CHECK=no: without those)"
	@echo "make test-core  tests of the mathematics and file formats, in an environment without Blender;"
	@echo "                CORE=oldest: of the mathematics, with Python 3.10 and NumPy 1.24"
	@echo "                one test: .venv-bpy-5.2/bin/python -m pytest -q tests/animation/test_handles.py -k cycle"
	@echo "make check     format, lint, English and types only"
	@echo "make test-gui  tests in a graphical Blender, where one is set up"
	@echo "make screenshots   take the pictures in docs/images again, of a graphical Blender"
	@echo "make listing       make the pictures in docs/listing again, for extensions.blender.org"
	@echo "make bench     what a bake costs, beside what else there is; docs/measurements/performance.md has a longer run"
	@echo "make api       write docs/reference/api/, docs/reference/interp/ and docs/splines/ anew, from the docstrings"
	@echo "make docs      build the site into build/docs/; a broken link or picture is an error"
	@echo "make zip       build the extension into dist/"
	@echo "make wheel     build the mathematics alone, tcb-splines, into dist/"
	@echo "make release   build the tagged version, with notes and checksums, into dist/"
	@echo "make format    put the code into its format"
	@echo "make clean     remove what was built; the environments stay (.venv*)"
	@echo "BPY=4.2|4.5|5.0|5.2 chooses the Blender, as in: make test BPY=4.2"

demo:
	@$(in_blender) "$$python" examples/demo.py

# GUI=no leaves the graphical Blender out, and CHECK=no format, lint and types, so that a run for each BPY need not
# repeat them.
test: version $(if $(filter no,$(CHECK)),,check) test-blender $(if $(filter no,$(GUI)),,test-gui)

version:
	@$(in_blender) "$$python" -c "import bpy; print('Blender', bpy.app.version_string)"

check:
	@$(in_checks) "$$python" -m ruff format --check . && "$$python" -m ruff check . && "$$python" tools/check_prose.py && \
	  "$$python" tools/check_types.py

# On every core; each process has a Blender with the extension installed. PYTEST="--numprocesses 0": in one process.
# Threads of OpenBLAS, one a core in each process, would only wait for each other.
test-blender test-core: export OPENBLAS_NUM_THREADS := 1
in_parallel = --numprocesses auto --maxprocesses 8 --dist worksteal

TESTS = tests --ignore tests/gui
test-blender:
	@$(in_blender) "$$python" -m pytest $(TESTS) $(in_parallel) $(PYTEST)

slow_tests = tests marked slow and$(empty) $(empty)
test-core:
	@python=$$(tools/environment.sh core $(CORE)) && "$$python" -m pytest -q -m "not slow" \
	  tests/interp $(if $(filter oldest,$(CORE)),,tests/formats) $(in_parallel) $(PYTEST)
	@echo "Left out: $(if $(findstring -m,$(PYTEST)),,$(slow_tests))all that need Blender; make test runs them"

# Four windows at a time, each on a screen of its own: a test waits for half of its time.
GUI_TESTS = tests/gui
test-gui:
	@$(in_blender) tools/environment.sh graphical "$$python" -m pytest $(GUI_TESTS) --numprocesses 4 --dist worksteal $(PYTEST)

screenshots:
	@$(in_blender) tools/environment.sh graphical "$$python" tools/screenshots.py

listing:
	@$(in_blender) tools/environment.sh graphical "$$python" tools/listing.py

bench:
	@python=$$(tools/environment.sh bench $(BPY)) && "$$python" tools/bench.py bakes --rounds 1 --channels 100 1000 --frames 10 1000

api:
	@$(in_blender) "$$python" tools/api_pages.py && "$$python" tools/spline_pages.py

docs:
	@python=$$(tools/environment.sh docs) && "$$python" -m sphinx --quiet --fail-on-warning --keep-going --nitpicky \
	  --conf-dir docs . build/docs && echo "build/docs/index.html"

zip:
	@$(in_blender) "$$python" tools/build_zip.py

wheel:
	@python=$$(tools/environment.sh core) && "$$python" -m pip wheel --quiet --no-deps --no-build-isolation \
	  --wheel-dir dist . && ls dist/*.whl

# tools/release.py has what it refuses.
release:
	@$(in_blender) "$$python" tools/release.py
	@python=$$(tools/environment.sh release) && "$$python" -m twine check --strict dist/*.whl dist/*.tar.gz

format:
	@$(in_checks) "$$python" -m ruff check --fix . && "$$python" -m ruff format .

clean:
	rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
