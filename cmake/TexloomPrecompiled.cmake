# Precompiled headers: the standard library, {fmt} and GoogleTest are parsed once for each kind of
# target and not once for each source, which takes a third to a half off a build. They hold headers
# of others alone, so an edit here compiles nothing again that does not include what was edited.
#
# They only save time: every source includes what it uses. Builds by GCC have none and hold that.
option(TEXLOOM_PCH "Precompile the headers of others (Clang alone)" ON)
if(NOT PROJECT_IS_TOP_LEVEL OR SKBUILD OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(TEXLOOM_PCH OFF)
endif()

# ccache serves such compilations where it need not look for macros of the time in them. It takes a
# precompiled file for what its .sum says, as the file itself has paths of this clone in it.
if(TEXLOOM_PCH AND TEXLOOM_CCACHE)
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_PCH_EXTSUM=1
       CCACHE_SLOPPINESS=pch_defines,time_macros)
endif()

set(texloom_standard_headers
    <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstring> <deque>
    <filesystem> <fstream> <functional> <iterator> <limits> <map> <memory> <mutex> <numeric>
    <optional> <random> <set> <span> <sstream> <string> <string_view> <thread> <tuple> <type_traits>
    <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)

# texloom_precompile(<kind> <header>...)
# A target whose precompiled headers other targets reuse, compiled as a library is (library), as a
# test is (test), or as bindings are (python); headers besides those of the standard library and
# {fmt} may follow.
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
  # That of another clone would ask for the files of that clone.
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum
       CONTENT "${headers}
Clang ${CMAKE_CXX_COMPILER_VERSION}, {fmt} ${texloom_fmt_version}, GoogleTest ${GTest_VERSION}, \
pybind11 ${pybind11_VERSION}, Python ${Python_VERSION}
")
endfunction()

# texloom_use_precompiled(<target> <kind>): where there are any.
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
