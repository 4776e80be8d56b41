# SPDX-License-Identifier: GPL-3.0-or-later
# Every target creates the environment that it needs (see tools/environment.sh).
# BPY=4.2, 4.5, 5.0 or 5.2 chooses the Blender. The default is the newest that an installed Python can run.

.DEFAULT_GOAL := help
.PHONY: help demo test version check test-blender test-core test-gui screenshots listing bench docs zip wheel release format clean
.NOTPARALLEL:

# Tests start hundreds of processes. Without stored bytecode, each would compile every module.
export PYTHONDONTWRITEBYTECODE :=

in_blender = python=$$(tools/environment.sh bpy $(BPY)) &&
in_checks = python=$$(tools/environment.sh check) &&

help:
	@echo "make demo      bake the example scene, print a table, save the .blend, a picture and a film"
	@echo "make test      check format, lint, English and types, and run all tests in Blender (GUI=no, CHECK=no skip parts)"
	@echo "make test-core  run the tests of the mathematics and file formats, in an environment without Blender;"
	@echo "                CORE=oldest: only the mathematics, with Python 3.10 and NumPy 1.24"
	@echo "                one test: .venv-bpy-5.2/bin/python -m pytest -q tests/animation/test_handles.py -k cycle"
	@echo "make check     check format, lint, English and types only"
	@echo "make test-gui  run the tests in a graphical Blender, if one is set up"
	@echo "make screenshots   take the pictures in docs/images again, in a graphical Blender"
	@echo "make listing       create the pictures in docs/listing again, for extensions.blender.org"
	@echo "make bench     measure bakes and compare them with Blender's; docs/measurements/performance.md contains more rounds"
	@echo "make docs      build the site into build/docs/, with the docstrings. Broken links and pictures are errors"
	@echo "make zip       build the extension into dist/"
	@echo "make wheel     build the package of the mathematics, tcb-splines, into dist/"
	@echo "make release   build the tagged version with notes and checksums into dist/"
	@echo "make format    format the code"
	@echo "make clean     remove built files, but not the environments (.venv*)"
	@echo "BPY=4.2|4.5|5.0|5.2 chooses the Blender, as in: make test BPY=4.2"

demo:
	@$(in_blender) "$$python" examples/demo.py

# GUI=no skips the graphical Blender, and CHECK=no skips format, lint and types, for runs with several BPY.
test: version $(if $(filter no,$(CHECK)),,check) test-blender $(if $(filter no,$(GUI)),,test-gui)

version:
	@$(in_blender) "$$python" -c "import bpy; print('Blender', bpy.app.version_string)"

check:
	@$(in_checks) "$$python" -m ruff format --check . && "$$python" -m ruff check . && "$$python" tools/check_prose.py && \
	  "$$python" tools/check_types.py

# Each core runs a process with the extension installed. PYTEST="--numprocesses 0" uses one process.
# More threads of OpenBLAS would only wait for each other.
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

# Run four windows at a time, each on a separate screen, because a test waits for half of its time.
GUI_TESTS = tests/gui
test-gui:
	@$(in_blender) tools/environment.sh graphical "$$python" -m pytest $(GUI_TESTS) --numprocesses 4 --dist worksteal $(PYTEST)

screenshots:
	@$(in_blender) tools/environment.sh graphical "$$python" tools/screenshots.py

listing:
	@$(in_blender) tools/environment.sh graphical "$$python" tools/listing.py

bench:
	@python=$$(tools/environment.sh bench $(BPY)) && "$$python" tools/bench.py bakes --rounds 1

docs:
	@python=$$(tools/environment.sh docs) && "$$python" -m sphinx --quiet --fail-on-warning --keep-going --nitpicky \
	  --conf-dir docs . build/docs && echo "build/docs/index.html"

zip:
	@$(in_blender) "$$python" tools/build_zip.py

wheel:
	@python=$$(tools/environment.sh core) && "$$python" -m pip wheel --quiet --no-deps --no-build-isolation \
	  --wheel-dir dist . && ls dist/*.whl

# tools/release.py lists the conditions.
release:
	@$(in_blender) "$$python" tools/release.py
	@python=$$(tools/environment.sh release) && "$$python" -m twine check --strict dist/*.whl dist/*.tar.gz

format:
	@$(in_checks) "$$python" -m ruff check --fix . && "$$python" -m ruff format .

clean:
	rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
