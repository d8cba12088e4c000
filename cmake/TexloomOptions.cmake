# Sets the language standard, warnings, sanitizers and ccache, and checks the compiler's version.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The static libraries end up in a Python extension module.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Sources of one static library need not wait for the library below it.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Texloom needs GCC 12 or newer, or Clang 16 or newer; "
                      "${CMAKE_CXX_COMPILER} is GCC ${CMAKE_CXX_COMPILER_VERSION}")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "Texloom needs Clang 16 or newer, or GCC 12 or newer; "
                      "${CMAKE_CXX_COMPILER} is Clang ${CMAKE_CXX_COMPILER_VERSION}")
endif()

find_program(TEXLOOM_CCACHE ccache)
if(TEXLOOM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TEXLOOM_CCACHE})
endif()

# Warnings are errors during development. A new compiler's warning must not break pip install, or a
# project that includes Texloom.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR AND NOT SKBUILD)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()

# The options for every target of this project, but not for targets of other projects.
add_library(texloom_options INTERFACE)
target_compile_options(texloom_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wimplicit-fallthrough
  # Makes __FILE__ in checks and diagnostics relative, such as src/ir/expr.cc.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC's full -Wshadow objects to scoped enumerators named like a type, and GCC 12 reports false
  # positives inside its own library headers when it optimizes or sanitizes.
  target_compile_options(texloom_options INTERFACE
    -Wshadow=local -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-maybe-uninitialized -Wno-dangling-pointer -Wno-free-nonheap-object)
else()
  # libstdc++ 12 deprecates what its own stable algorithms use.
  target_compile_options(texloom_options INTERFACE -Wshadow -Wno-deprecated-declarations)
endif()

# Tests take twice as long to compile with optimization, and little time is spent in them at run
# time. Debug information of tests and bindings would cost a tenth.
if(TEXLOOM_QUICK_BUILD)
  set(texloom_quick_options -O0 -g0)
endif()
# Bindings consist of templates. Without optimization, a network takes a third longer to compile; -O2
# doubles the time to compile the bindings without a benefit.
set(texloom_python_options $<$<CONFIG:RelWithDebInfo,Release>:-O1>
                           $<$<BOOL:${TEXLOOM_QUICK_BUILD}>:-g0>)

# GNU's linker takes seconds for a program of the tests, lld a fraction of one.
if(TEXLOOM_QUICK_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld TEXLOOM_LLD)
  if(TEXLOOM_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(TEXLOOM_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TEXLOOM_FUZZERS needs clang, for libFuzzer: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-static-libstdc++ -static-libgcc)
endif()

if(TEXLOOM_SANITIZE)
  add_compile_options(-fsanitize=${TEXLOOM_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TEXLOOM_SANITIZE})
endif()
