# shellcheck shell=bash
# Installs what ./dev needs: Debian packages, and Python packages into .venv.

# Packages for building and running the Python module with the LLVM plug-in, for the tests, for a
# server of PostgreSQL that tests of records start, for a browser in which tests open reports, for
# checking the sources, for sanitizers and fuzzers, for checking generated kernels, for building the
# runtime for another processor, and for looking into the bitcode of micro-kernels.
module_packages=(ccache clang-19 cmake flatbuffers-compiler g++ libflatbuffers-dev libfmt-dev
  liblld-19-dev libxxhash-dev lld-19 llvm-19-dev ninja-build ocl-icd-libopencl1 opencl-c-headers
  pocl-opencl-icd python3-dev python3-venv)
build_packages=("${module_packages[@]}" libblocksruntime-dev libgnustep-base-dev libgtest-dev
  libobjc-12-dev)
# What has their place on macOS; its clang, Metal and OpenCL are Apple's.
brew_packages=(bash ccache cmake coreutils flatbuffers fmt googletest ninja opencl-headers python@3.13 xxhash)
test_packages=(chromium postgresql)
lint_packages=(clang-format-19 clang-tidy-19 shellcheck)
clang_packages=(libclang-rt-19-dev)
kernel_packages=(oclgrind)
apple_packages=(libc++-19-dev libc6-dev-arm64-cross)
aarch64_packages=(g++-aarch64-linux-gnu qemu-user)
microkernel_packages=(llvm-19)

missing=()
as_root() { if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi; }

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  as_root dpkg --configure -a  # completes an interrupted installation
  as_root apt-get update || echo "apt-get update failed; trying with the package lists at hand"
  as_root apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}"
}

find_missing_packages() {
  local installed package
  missing=()
  # dpkg reports unknown packages on stderr and in its status; both can be ignored.
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    [[ $installed == *"$package installed"* ]] || missing+=("$package")
  done
}

system_python() {
  local candidate
  for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  echo "no python3 of version 3.10 or newer found" >&2
  return 1
}

# Folders of Python packages: texloom, then the demonstration, the benchmarks and the fuzzer.
python_roots=(python apps benchmarks tests/fuzz)

# Prints the commands of an installed package, [project.scripts], as lines "NAME MODULE FUNCTION".
commands_of_package() {
  sed -n '/^\[project\.scripts\]$/,/^$/p' pyproject.toml |
    sed -En 's/^([a-z-]+) = "([a-z_.]+):([a-z_]+)"$/\1 \2 \3/p'
}

# Writes these commands into .venv/bin, for the sources in this folder.
install_commands() {
  local name module function
  while read -r name module function; do
    printf '#!%s\nimport sys\n\nfrom %s import %s\n\nsys.exit(%s())\n' \
      "$PWD/$python" "$module" "$function" "$function" >"$venv/bin/$name"
    chmod +x "$venv/bin/$name"
  done < <(commands_of_package)
}

# The .venv is up to date if it was made from these lists, in this folder, with this interpreter.
venv_key() {
  {
    cat requirements-dev.txt requirements-models.txt && commands_of_package &&
      printf "%s\n" "$PWD" "${python_roots[@]}" && readlink -e "$python"
  } 2>&1 | sha256sum
}

install_python_packages() {
  local base site
  base=$(system_python)
  "$python" -c 'import pip' 2>/dev/null || "$base" -m venv --clear "$venv"
  "$python" -m pip install --no-input --disable-pip-version-check --progress-bar off \
    -r requirements-dev.txt
  "$python" -m pip install --no-input --disable-pip-version-check --progress-bar off --no-deps \
    -r requirements-models.txt
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf "$PWD/%s\n" "${python_roots[@]}" >"$site/texloom-checkout.pth"
  install_commands
  venv_key >"$venv/stamp.new"
  mv "$venv/stamp.new" "$venv/stamp"
}

install_peers() {
  "$python" -m pip install --no-input --disable-pip-version-check --progress-bar off \
    -r requirements-bench.txt
}

install_site_packages() {
  "$python" -m pip install --no-input --disable-pip-version-check --progress-bar off \
    -r requirements-docs.txt
}

# setup PACKAGE...: plans the installation of what is missing.
setup() {
  if command -v dpkg-query >/dev/null; then
    find_missing_packages "$@"
    if ((${#missing[@]} > 0)); then
      if ((EUID != 0)); then
        command -v sudo >/dev/null || die "these packages are missing, and installing them needs root:" \
          "apt-get install ${missing[*]}"
        sudo -v || die "sudo was refused; ask an administrator for:" "apt-get install ${missing[*]}"
      fi
      plan "installing ${#missing[@]} Debian packages" install_packages \
        "read the message above; by hand: apt-get install ${missing[*]}"
    fi
  else
    if [[ $OSTYPE == darwin* ]]; then
      echo "dev: make sure of this: brew install ${brew_packages[*]}" >&2
    else
      echo "dev: not a Debian system; make sure that you have the contents of these packages: $*" >&2
    fi
  fi
  if [[ $(cat "$venv/stamp" 2>/dev/null) != "$(venv_key)" ]]; then
    plan "installing Python packages into $venv" install_python_packages \
      "check the network (PyPI must be reachable), then run ./dev setup again"
  fi
}
