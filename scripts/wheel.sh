# shellcheck shell=bash
# Builds wheels: LLVM is inside, and nothing but the system's C and C++ libraries is needed to run them.

# What LLVM's archives need besides ${build_packages[@]}, and what makes the machine of the check.
wheel_packages=(libpolly-19-dev libzstd-dev zlib1g-dev)
bare_packages=(debootstrap)

# Prints the Python, and the version of it, of a command; nothing if it is too old or lacks headers.
python_of() {
  "$1" -c 'import os, sys, sysconfig
ready = sys.version_info >= (3, 10) and os.path.exists(sysconfig.get_path("include") + "/Python.h")
ready and print(sys.executable, "%d.%d" % sys.version_info[:2])' 2>/dev/null || true
}

# pythons_of_wheels [PYTHON...]: prints a line "PYTHON VERSION" for each version to build for. By default
# these are the system's Python, the one that the user's shell finds, and the oldest that is supported.
pythons_of_wheels() {
  local oldest candidate
  if (($# == 0)); then
    oldest=python$(sed -n 's/^requires-python = ">=\(.*\)"$/\1/p' pyproject.toml)
    set -- "$(system_python)" python3 "$oldest"
    [[ -n $(python_of "$oldest") ]] || echo "no $oldest: to build for it, too, name one (./dev wheel PYTHON...)" >&2
  fi
  for candidate in "$@"; do python_of "$candidate"; done | awk '!seen[$2]++'
}

# build_wheel PYTHON VERSION
build_wheel() {
  local environment=build/wheel/env-$2 tag=cp${2/./}
  if ! cmp -s requirements-wheel.txt "$environment/requirements"; then
    "$1" -m venv --clear "$environment"
    "$environment/bin/pip" install --no-input --disable-pip-version-check --progress-bar off \
      -r requirements-wheel.txt
    cp requirements-wheel.txt "$environment/requirements"
  fi
  rm -f build/wheel/built/*-"$tag"-*.whl dist/*-"$tag"-*.whl
  CC=clang-19 CXX=clang++-19 CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$environment/bin/pip" wheel . -v \
    --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/wheel/built \
    --config-settings cmake.define.TEXLOOM_LLVM=ON --config-settings cmake.define.TEXLOOM_LLVM_STATIC=ON
  PATH=$PWD/$environment/bin:$PATH auditwheel repair --wheel-dir dist build/wheel/built/*-"$tag"-*.whl
}

build_wheels() {
  local path version
  while read -r path version; do
    echo "the wheel for Python $version, by $path"
    build_wheel "$path" "$version" </dev/null
  done <<<"$pythons"
}

wheel_tests() { "$python" -m pytest tests/wheel; }

# plan_wheel [PYTHON...]: the Debian packages must be there, so that the system's Python has its headers.
plan_wheel() {
  pythons=$(pythons_of_wheels "$@")
  [[ -n $pythons ]] || die "no Python of version 3.10 or newer with headers among: $*"
  plan "building wheels into dist/ for Python $(awk '{print $2}' <<<"$pythons" | paste -sd,)" build_wheels \
    "correct the error above"
}
plan_wheel_check() {
  plan "trying them on a bare machine" wheel_tests "$one $python -m pytest tests/wheel -k …"
}
