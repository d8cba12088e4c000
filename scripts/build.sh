# shellcheck shell=bash
# Configures and builds the build folders of ./dev, one for each preset of CMakePresets.json.

# configure PRESET FOLDER: runs CMake only if needed; ninja itself detects changed CMake files.
configure() {
  local home preset
  preset=$(cat "$2/preset" 2>/dev/null || true)
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$2/CMakeCache.txt" 2>/dev/null || true)
  [[ -z $home || $home == "$PWD" ]] || rm -rf "$2/CMakeCache.txt" "$2/CMakeFiles"
  if [[ $home != "$PWD" || $preset != "$1" || ! -e $2/build.ninja || CMakePresets.json -nt $2/build.ninja ||
    $venv/stamp -nt $2/build.ninja ]]; then
    # CMake does not apply a changed compiler of a preset to an existing cache.
    [[ CMakePresets.json -ot $2/build.ninja ]] || rm -rf "$2/CMakeCache.txt" "$2/CMakeFiles"
    cmake --preset "$1" && touch "$2/build.ninja" && echo "$1" >"$2/preset"
  fi
}

# The preset of the folder build/.
preset_of_build=default
[[ $OSTYPE != darwin* ]] || preset_of_build=apple

# A folder that was configured for everything is left so.
leave_metal_out() {
  case $preset_of_build/$(cat build/preset 2>/dev/null) in
    default/default | apple/*) ;;
    *) preset_of_build=tests ;;
  esac
}

build_default() { configure "$preset_of_build" build && cmake --build build -j "$jobs"; }

# What runs Python needs the module alone. Outside of macOS it has no Metal driver then, whose software
# Metal is much to compile; a folder that was configured for everything is left so.
preset_of_module=$preset_of_build
choose_module() {
  case $preset_of_build/$(cat build/preset 2>/dev/null)/$* in
    default/default/* | apple/* | *metal*) ;;
    default/tests/*) preset_of_module=tests ;;
    *) preset_of_module=module ;;
  esac
}
# With the LLVM plug-in, except on macOS.
build_module() {
  local -a targets=(_core)
  [[ $preset_of_module == apple ]] || targets+=(texloom_llvm)
  configure "$preset_of_module" build && cmake --build build -j "$jobs" --target "${targets[@]}"
}

# Benchmarks measure the build that users have. Its module is in a separate package, which links to
# the sources in python/texloom.
build_release() {
  configure release build/release && cmake --build build/release -j "$jobs" --target "$@"
}
build_release_module() {
  local package=build/release/python/texloom entry
  build_release _core
  find "$package" -type l -delete
  for entry in python/texloom/*; do
    [[ $entry == */_core*.so ]] || ln -s "$PWD/$entry" "$package/"
  done
}
# The same with the LLVM plug-in, and the program that measures the peak of the machine.
build_release_native() {
  configure release build/release && cmake -DTEXLOOM_LLVM=ON build/release &&
    build_release_module && build_release texloom_llvm mmt4d_benchmark
}
build_checked() {
  configure "$preset_of_build" build && cmake --build build -j "$jobs" --target "${targets[@]}"
}
# The public headers as embedding programs see them.
public_headers=(texloom_c_api_headers texloom_drivers_headers texloom_runtime_headers texloom_support_headers)
# clang-tidy needs the compile flags, and these headers.
prepare_lint() {
  configure "$preset_of_build" build &&
    cmake --build build -j "$jobs" --target "${public_headers[@]}"
}
build_not_sanitized() {
  configure "$preset_of_build" build && cmake --build build -j "$jobs" --target not_sanitized
}
build_softmetal() {
  cmake --build build -j "$jobs" --target softmetal_tests softmetal_api_tests
}
build_embeddable() { build_release texloom_runtime texloom_c_api texloom_c_api_headers embed; }
build_all_of_release() { build_release all; }
build_sanitize() { configure sanitize build/sanitize && cmake --build build/sanitize -j "$jobs"; }
build_fuzzers() {
  configure fuzz build/fuzz && cmake --build build/fuzz -j "$jobs" && "$python" tests/fuzz/corpus.py build/fuzz
}
build_hal_fuzz() {
  configure "$preset" "build/$preset" && cmake --build "build/$preset" -j "$jobs" --target hal_fuzz
}
build_aarch64() { configure aarch64 build/aarch64 && cmake --build build/aarch64 -j "$jobs"; }
# Without death tests: under qemu a test cannot start itself again, and memory has no limit.
aarch64_tests() {
  GTEST_FILTER='-*DeathTest.*' \
    ctest --test-dir build/aarch64 -j "$jobs" --output-on-failure --no-tests=error
}
# What compiles networks for another machine.
build_native() {
  configure "$preset_of_build" build && cmake --build build -j "$jobs" --target _core texloom_llvm
}
aarch64_networks() { "$python" -m pytest tests/python/compile/test_aarch64.py; }
build_microkernels() {
  configure "$preset_of_build" build && cmake --build build -j "$jobs" --target microkernels
}
build_microkernels_for_aarch64() {
  configure aarch64 build/aarch64 && cmake --build build/aarch64 -j "$jobs" --target microkernels
}
build_conformance() { configure "$preset_of_build" build && cmake --build build -j "$jobs" --target conformance_tests; }
build_bench_hal() { build_release texloom-bench-hal; }
