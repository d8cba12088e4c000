# shellcheck shell=bash
# The checks and tests that ./dev check, test and lint run.

# run_cxx_tests FOLDER [OPTION...]
run_cxx_tests() { ctest --test-dir "$1" -j "$jobs" --output-on-failure --no-tests=error "${@:2}"; }
cxx_tests() { run_cxx_tests build -LE 'nightly|softmetal'; }
# Those that the build with sanitizers lacks.
cxx_tests_not_sanitized() { run_cxx_tests build -R '^(conformance|metal|mmt4d)$'; }
cxx_tests_chosen() { run_cxx_tests build -LE nightly -R "^($cxx)"; }
softmetal_tests() { run_cxx_tests build -L softmetal; }
cxx_tests_sanitized() { run_cxx_tests build/sanitize; }
cxx_tests_of_release() { run_cxx_tests build/release; }
lit_tests() { "$venv/bin/lit" -sv tests/lit; }
lit_tests_sanitized() { "$venv/bin/lit" -sv --param build=build/sanitize tests/lit; }
lit_tests_of_release() { "$venv/bin/lit" -sv --param build=build/release tests/lit; }
microkernel_tests() {
  run_cxx_tests build -R '^mmt4d' && "$python" -m pytest tests/python/microkernels
}
microkernel_tests_for_aarch64() { run_cxx_tests build/aarch64 -R '^mmt4d'; }
run_pytest() { "$python" -m pytest -n "$jobs" "$@"; }
python_tests() { run_pytest -m "not nightly" tests/python; }
quick_python_tests() {
  local status=0
  run_pytest -m "not slow and not nightly" --one-device "${tested[@]}" || status=$?
  ((status == 5)) || return "$status"  # 5: none of the changed files has a quick test
}
fuzz_tests() {
  run_pytest -m nightly --share "$share" --ignore tests/python/runtime/test_embedding.py \
    --ignore tests/python/runtime/test_programs_in_c.py tests/python
}
embedding_tests() { "$python" -m pytest -m nightly tests/python/runtime/test_{embedding,programs_in_c}.py; }
kernels_in_oclgrind() { "$python" tests/oclgrind.py --count 200; }
read_by_gcc() {
  build_release "${public_headers[@]}" src/runtime/generated/package_generated.h &&
    "$python" tests/read_by_gcc.py --jobs "$jobs"
}
compiled_for_apple() { "$python" tests/softmetal/check_apple.py --jobs "$jobs"; }
site() { NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --strict; }
some_mutants() { "$python" tests/mutants.py --count 50; }
cxx_files() { git ls-files -co --exclude-standard -- '*.cc' 'src/*.c' '*.mm' '*.h'; }

lint_quick() {
  local status=0
  cxx_files | xargs -r clang-format-19 --dry-run -Werror 2>&1 |
    sed -n 's/:[0-9]*: error: code should be.*/: not formatted/p' | uniq || status=1
  "$python" -m ruff format --check . || status=1
  "$python" -m ruff check . || status=1
  "$python" tests/layering.py || status=1
  shellcheck -x -a dev .ci/run || status=1
  return "$status"
}
format_sources() {
  cxx_files | xargs -r clang-format-19 -i
  "$python" -m ruff check -q --select I --fix .
  "$python" -m ruff format -q .
}
lint_tidy() { "$python" tests/tidy.py --jobs "$jobs"; }
tidy_changed() { "$python" tests/tidy.py --jobs "$jobs" "${tidy[@]}"; }

plan_build() {
  plan "building" build_default "correct the error above, or ./dev clean if the build folder is stale"
}
plan_lint() {
  plan "checking format, style, layering" lint_quick "./dev format corrects layout; the rest by hand"
}
plan_tidy() {
  plan "configuring, for clang-tidy" prepare_lint "correct the error above"
  plan "running clang-tidy on sources not known to be clean" lint_tidy "correct the places named above"
}

one='run one alone:'
lit_hint="$one $venv/bin/lit -v tests/lit --filter=…"
python_hint="$one $python -m pytest tests/python -k …"

plan_check() {
  local changed since targets_ cxx_ lit tested_ tidy_
  eval "$("$python" tests/changes.py)"
  read -ra targets <<<"$targets_"
  read -ra tested <<<"$tested_"
  read -ra tidy <<<"$tidy_"
  cxx=$cxx_
  [[ $cxx == *metal* ]] || leave_metal_out
  echo "files that changed since $since: $changed"
  ((${#targets[@]} == 0)) || plan "building ${targets[*]}" build_checked \
    "correct the error above, or ./dev clean if the build folder is stale"
  plan_lint
  [[ -z $cxx ]] || plan "running the C++ tests of ${cxx//|/, }" cxx_tests_chosen \
    "$one build/tests/ir_tests --gtest_filter=…"
  [[ -z $lit ]] || plan "running the tests of texloom-opt" lit_tests "$lit_hint"
  ((${#tested[@]} == 0)) || plan "running the quick Python tests" quick_python_tests "$python_hint"
  ((${#tidy[@]} == 0)) || plan "running clang-tidy on what changed" tidy_changed \
    "correct the places named above"
}

plan_docs() {
  plan "building the Python module" build_module \
    "correct the error above, or ./dev clean if the build folder is stale"
  plan "installing MkDocs" install_site_packages \
    "check the network (PyPI must be reachable), then run the command again"
  plan "making the site" site "correct the documents or docstrings named above"
}

# With the part `sanitize`, the build with sanitizers alone has and runs most C++ tests, and those of
# texloom-opt.
plan_test() {
  local cxx_hint="$one build/tests/ir_tests --gtest_filter=…"
  if has_part sanitize; then
    plan "building" build_not_sanitized "correct the error above"
    plan_lint
    plan "running the C++ tests that have no sanitizers" cxx_tests_not_sanitized "$cxx_hint"
  else
    plan_build
    plan_lint
    plan "running the C++ tests" cxx_tests "$cxx_hint"
    plan "running the tests of texloom-opt" lit_tests "$lit_hint"
  fi
  plan "running the Python tests" python_tests "$python_hint"
}

# Parts of ./dev test --all.
all_parts=(softmetal sanitize tidy fuzz oclgrind embedding gcc apple docs release aarch64 wheel mutants)

# The tests of the software Metal itself run where it has changed, and always in CI. The Metal driver
# over it, which takes a fifth of the time of ./dev test, is left out where no change concerns it.
choose_tests() {
  ! has_part softmetal || return 0
  case $("$python" tests/changes.py | grep '^cxx_=') in
    *softmetal*) parts=(softmetal "${parts[@]}") ;;
    *metal*) ;;
    *)
      leave_metal_out
      [[ $preset_of_build != tests ]] ||
        echo "the Metal driver and its tests are left out, as no change concerns them (--also softmetal)"
      ;;
  esac
}

plan_part() {
  case $1 in
    softmetal)
      plan "building the tests of the software Metal itself" build_softmetal "correct the error above"
      plan "running them" softmetal_tests "$one build/tests/softmetal/softmetal_tests --gtest_filter=…"
      ;;
    sanitize)
      plan "building with sanitizers" build_sanitize "correct the error above"
      plan "running the C++ tests with sanitizers" cxx_tests_sanitized \
        "$one build/sanitize/tests/ir_tests --gtest_filter=…"
      plan "running the tests of texloom-opt with sanitizers" lit_tests_sanitized "$lit_hint"
      ;;
    tidy) plan_tidy ;;
    fuzz) plan "running 450 more random programs, and other long tests" fuzz_tests "$python_hint" ;;
    oclgrind)
      plan "running 200 kernels under Oclgrind" kernels_in_oclgrind \
        "correct the kernels named above; to run a single random one: tests/oclgrind.py --seed …"
      ;;
    embedding)
      plan "building the runtime by GCC" build_embeddable "correct the error above"
      plan "running the tests of programs that embed the runtime" embedding_tests "$python_hint"
      ;;
    gcc)
      plan "having GCC read every source" read_by_gcc \
        "correct the error above; each source must include what it uses"
      ;;
    apple)
      plan "compiling the Metal driver for macOS and iOS" compiled_for_apple \
        "correct the error above; one alone: $python tests/softmetal/check_apple.py PART_OF_PATH"
      ;;
    docs) plan_docs ;;
    release)
      plan "building everything by GCC" build_all_of_release "correct the error above"
      plan "running the C++ tests of that build" cxx_tests_of_release \
        "$one build/release/tests/ir_tests --gtest_filter=…"
      plan "running the tests of texloom-opt of that build" lit_tests_of_release "$lit_hint"
      ;;
    aarch64) plan_aarch64 ;;
    wheel)
      plan_wheel
      plan_wheel_check
      ;;
    mutants)
      plan "changing 50 lines at random" some_mutants "see above for the lines that no test checks"
      ;;
  esac
}
plan_microkernels() {
  plan "building them for aarch64" build_microkernels_for_aarch64 "correct the error above"
  plan "testing them" microkernel_tests \
    "$one build/src/codegen/llvm/microkernels/mmt4d_test PART_OF_A_NAME"
  plan "testing those for aarch64 under qemu" microkernel_tests_for_aarch64 \
    "$one qemu-aarch64 build/aarch64/src/codegen/llvm/microkernels/mmt4d_test PART_OF_A_NAME"
}
plan_aarch64() {
  plan "building the runtime for aarch64" build_aarch64 "correct the error above"
  plan "running its tests under qemu" aarch64_tests \
    "run one alone: qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/tests/runtime_tests --gtest_filter=…"
  plan "building the module and the LLVM plug-in" build_native "correct the error above"
  plan "running networks under qemu" aarch64_networks "$python_hint"
}

has_part() { [[ " ${parts[*]} " == *" $1 "* ]]; }

# chosen_parts [--all | --also PART,...] [--share K/N]: sets `parts` and `share`.
chosen_parts() {
  local part text=''
  parts=() share=1/1
  while (($# > 0)); do
    case $1 in
      --all) parts=("${all_parts[@]}") ;;
      --also | --share)
        [[ -n ${2:-} ]] || die "$1 needs a value: --also PART,..., --share K/N"
        [[ $1 == --also ]] && text=$2 || share=$2
        shift
        ;;
      --also=*) text=${1#--also=} ;;
      --share=*) share=${1#--share=} ;;
      *) die "./dev test takes --all, --also PART,... and --share K/N, not \"$1\"" ;;
    esac
    shift
  done
  [[ $share =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] || die "--share is K/N, such as 1/3, not \"$share\""
  [[ -z $text ]] || IFS=, read -ra parts <<<"$text"
  for part in "${parts[@]}"; do
    [[ " ${all_parts[*]} " == *" $part "* ]] || die "\"$part\" is not a part: ${all_parts[*]}"
  done
}
