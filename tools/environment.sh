#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# environment.sh bpy [VERSION]      virtual environment with Blender VERSION as a Python module. The default is the newest
#                                   version that has an environment, or else the newest that `python3` or another
#                                   installed Python can run
# environment.sh bench [VERSION]    the same environment, with the libraries that tools/bench.py compares
# environment.sh core [oldest]      virtual environment without Blender, with the newest Python and NumPy, or with the
#                                   oldest versions that the package of the mathematics supports
# environment.sh check              virtual environment with the format, lint and type checkers
# environment.sh release            virtual environment with the checker of the package's files
# environment.sh docs               virtual environment with the builder of the site
# environment.sh versions           the Blender versions that this project is tested with
# environment.sh runnable VERSION   exit status 0 if this machine has the Python for that Blender
# environment.sh windows            folders of the graphical Blenders that are set up, newest first
# environment.sh graphical COMMAND  run COMMAND if a graphical Blender is set up. BLENDER then contains its path
#
# The first six print the path of the environment's Python. All other output goes to stderr. An environment is updated if
# its requirements have changed. The exit status is 2 if something is missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
versions="4.2 4.5 5.0 5.2"

say() { printf '%s\n' "$*" >&2; }
fail() { say "environment: $*"; exit 2; }

# python_of VERSION: print the Python version of the bpy wheels for that Blender.
python_of() {
  case $1 in
    4.2 | 4.5 | 5.0) echo 3.11 ;;
    5.2) echo 3.13 ;;
    *) fail "no Blender '$1' here: choose one of $versions" ;;
  esac
}

# is_python EXECUTABLE VERSION: check that it runs, has that version, and can create virtual environments.
is_python() {
  "$1" -c "import sys, venv, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != '$2')" </dev/null >/dev/null 2>&1
}

# find_python VERSION: print an executable of that version. A pyenv shim runs only the selected versions, so also search
# the rest of PATH and pyenv's folder.
find_python() {
  local pyenv_root candidate
  pyenv_root=$(pyenv root 2>/dev/null || echo "${PYENV_ROOT:-$HOME/.pyenv}")
  while IFS= read -r candidate; do
    if is_python "$candidate" "$1"; then
      echo "$candidate"
      return
    fi
  done < <(type -ap python3 "python$1" || true; printf '%s\n' "$pyenv_root/versions/$1".*/bin/python)
  return 1
}

# default_version: print the newest Blender that has an environment, that `python3` can run, or that any Python can run.
default_version() {
  local version
  for version in 5.2 5.0 4.5 4.2; do
    if compgen -G "$root/.venv-bpy-$version/requirements-*.txt" >/dev/null; then
      echo $version
      return
    fi
  done
  if is_python python3 3.13; then echo 5.2
  elif is_python python3 3.11; then echo 5.0
  elif find_python 3.13 >/dev/null; then echo 5.2
  elif find_python 3.11 >/dev/null; then echo 5.0
  else fail "Python 3.11 or 3.13 is missing: Blender as a Python module needs one of them, with its venv module" \
            "(on Debian: apt-get install python3.11-venv or python3.13-venv; anywhere: pyenv install 3.11)"
  fi
}

# requirements_text FILE: print the file with the files that it includes.
requirements_text() {
  local line
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ $line == "-r "* ]]; then requirements_text "${line#-r }"; else printf '%s\n' "$line"; fi
  done <"$root/tools/$1"
}

# set_up FOLDER PYTHON_VERSION REQUIREMENTS: create or update the environment. Its stamp is a copy of its requirements and
# constraints.
set_up() {
  local folder=$root/$1 requirements=$3 wanted stamp python
  stamp=$folder/$requirements
  wanted=$(requirements_text "$requirements" && requirements_text constraints.txt)
  if [[ -x $folder/bin/python && -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return
  fi
  python=$(find_python "$2") || fail "Python $2 (with its venv module) is missing: $1 needs it" \
    "(on Debian: apt-get install python$2-venv; anywhere: pyenv install $2)"
  say "environment: filling $1 (Python $2) with tools/$requirements; the first time takes a few minutes"
  is_python "$folder/bin/python" "$2" || "$python" -m venv --clear "$folder" >&2
  # Python compiles modules on import. Compiling all of them takes longer than unpacking them.
  "$folder/bin/python" -m pip install --quiet --no-compile --disable-pip-version-check \
    --constraint "$root/tools/constraints.txt" --requirement "$root/tools/$requirements" >&2 ||
    fail "pip could not install tools/$requirements (see above)"
  printf '%s\n' "$wanted" >"$stamp"
}

# package_of LIBRARY: print the Debian package of a shared library that Blender's module needs.
package_of() {
  case $1 in
    libEGL.so.1) echo libegl1 ;;
    libGL.so.1) echo libgl1 ;;
    libICE.so.6) echo libice6 ;;
    libSM.so.6) echo libsm6 ;;
    libX11.so.6) echo libx11-6 ;;
    libXext.so.6) echo libxext6 ;;
    libXfixes.so.3) echo libxfixes3 ;;
    libXi.so.6) echo libxi6 ;;
    libXrender.so.1) echo libxrender1 ;;
    libXxf86vm.so.1) echo libxxf86vm1 ;;
    libgomp.so.1) echo libgomp1 ;;
    libxkbcommon.so.0) echo libxkbcommon0 ;;
    *) echo "(the package that has $1)" ;;
  esac
}

# blender_imports PYTHON: import bpy, or report the missing shared libraries and their Debian packages.
blender_imports() {
  local trouble libraries library packages=""
  trouble=$("$1" -c "import bpy" 2>&1 >/dev/null) && return
  libraries=$(ldd "$(dirname "$1")"/../lib/python*/site-packages/bpy/__init__.so 2>/dev/null |
    awk '/not found/ { print $1 }' | sort -u) || true
  [[ -n $libraries ]] || fail "Blender's module does not import:"$'\n'"$trouble"
  for library in $libraries; do
    packages+=" $(package_of "$library")"
  done
  say "environment: Blender's module needs shared libraries that are missing here:" $libraries
  fail "on Debian these have them: apt-get install --no-install-recommends$packages"
}

# blender_environment VERSION: print the path of its Python.
blender_environment() {
  local folder=.venv-bpy-$1 python_version
  python_version=$(python_of "$1")
  set_up "$folder" "$python_version" "requirements-bpy-$1.txt"
  blender_imports "$root/$folder/bin/python"
  echo "$root/$folder/bin/python"
}

# graphical_trees: print the folders of graphical Blenders, newest first.
graphical_trees() {
  local tree
  for tree in "$HOME"/.cache/gui-blender/{sid,trixie}; do
    if [[ -f $tree/.complete ]]; then echo "$tree"; fi
  done
}

# in_graphical COMMAND...: run it with BLENDER, the program that starts a graphical Blender, and GUI_BLENDER, its folder,
# by default the newest. Report if there is none.
in_graphical() {
  local gui=${TCB_SHARED:-$root/../shared}/gui tree program
  for program in Xvfb xdotool import; do
    if ! command -v "$program" >/dev/null; then
      echo "No graphical Blender can be driven here for lack of $program, so its tests are not run"
      return
    fi
  done
  for tree in ${GUI_BLENDER:+"$GUI_BLENDER"} $(graphical_trees); do
    if [[ -x $gui/blender && -f $tree/.complete ]]; then
      BLENDER=$(cd "$gui" && pwd)/blender GUI_BLENDER=$tree exec "$@"
    fi
  done
  echo "No graphical Blender is set up here (../shared/gui/setup does it), so its tests are not run"
}

case ${1:-} in
  bpy)
    version=${2:-$(default_version)}
    blender_environment "$version"
    ;;
  bench)
    version=${2:-$(default_version)}
    python=$(blender_environment "$version")
    set_up ".venv-bpy-$version" "$(python_of "$version")" requirements-bench.txt
    echo "$python"
    ;;
  core)
    if [[ ${2:-} == oldest ]]; then
      set_up .venv-core-oldest 3.10 requirements-core-oldest.txt
      echo "$root/.venv-core-oldest/bin/python"
    else
      python_version=$(python_of "$(default_version)")
      set_up .venv-core "$python_version" requirements-tests.txt
      echo "$root/.venv-core/bin/python"
    fi
    ;;
  check | release | docs)
    python_version=$(python_of "$(default_version)")
    set_up ".venv-$1" "$python_version" "requirements-$1.txt"
    echo "$root/.venv-$1/bin/python"
    ;;
  versions)
    printf '%s\n' $versions
    ;;
  runnable)
    python_version=$(python_of "${2:-}")
    find_python "$python_version" >/dev/null
    ;;
  windows)
    graphical_trees
    ;;
  graphical)
    in_graphical "${@:2}"
    ;;
  *)
    sed -n '3,19s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac
