# Precompiles headers: the standard library, {fmt} and GoogleTest are parsed once for each kind of
# target instead of once for each source, which saves a third to a half of the build time. Only
# third-party headers are precompiled, so an edit in this project recompiles only what includes the
# edited file.
#
# Precompiled headers only save time: every source must include what it uses. Builds with GCC do not
# use them, and so check this.
option(TEXLOOM_PCH "Precompile third-party headers (Clang only)" ON)
if(NOT PROJECT_IS_TOP_LEVEL OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(TEXLOOM_PCH OFF)
endif()

# ccache caches compilations with precompiled headers only if it may ignore time macros in them. It
# identifies a precompiled file by its .sum file, because the file itself contains paths of this
# clone.
if(TEXLOOM_PCH AND TEXLOOM_CCACHE)
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_PCH_EXTSUM=1
       CCACHE_SLOPPINESS=pch_defines,time_macros)
endif()

set(texloom_standard_headers
    <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstring> <deque>
    <filesystem> <fstream> <functional> <iterator> <limits> <map> <memory> <mutex> <numeric>
    <optional> <random> <set> <span> <sstream> <string> <string_view> <thread> <tuple> <type_traits>
    <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)

# texloom_precompile(<kind> <header>...)
# Adds a target whose precompiled headers other targets reuse. It is compiled with the options of a
# library (library), a test (test) or bindings (python). Headers besides those of the standard
# library and {fmt} may follow.
function(texloom_precompile kind)
  set(target texloom_precompiled_${kind})
  set(source ${PROJECT_SOURCE_DIR}/cmake/precompiled.cc)
  set(headers ${texloom_standard_headers} ${ARGN})
  if(kind STREQUAL "test")
    add_executable(${target} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${target} PRIVATE GTest::gtest_main GTest::gmock)
    target_compile_options(${target} PRIVATE ${texloom_quick_options})
  else()
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  if(kind STREQUAL "python")
    target_link_libraries(${target} PRIVATE pybind11::module)
    target_compile_options(${target} PRIVATE ${texloom_python_options})
  endif()
  target_link_libraries(${target} PRIVATE texloom_options texloom_fmt)
  target_precompile_headers(${target} PRIVATE ${headers})
  # Not cached: the result of another clone would refer to that clone's files.
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum
       CONTENT "${headers}
Clang ${CMAKE_CXX_COMPILER_VERSION}, {fmt} ${texloom_fmt_version}, GoogleTest ${GTest_VERSION}, \
pybind11 ${pybind11_VERSION}, Python ${Python_VERSION}
")
endfunction()

# texloom_use_precompiled(<target> <kind>): uses the precompiled headers, if enabled.
function(texloom_use_precompiled target kind)
  if(TEXLOOM_PCH)
    target_precompile_headers(${target} REUSE_FROM texloom_precompiled_${kind})
  endif()
endfunction()

if(TEXLOOM_PCH)
  texloom_precompile(library)
  if(TEXLOOM_TESTS)
    texloom_precompile(test <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  if(TEXLOOM_PYTHON)
    texloom_precompile(python <pybind11/functional.h> <pybind11/numpy.h> <pybind11/pybind11.h>
                       <pybind11/stl.h>)
  endif()
endif()
