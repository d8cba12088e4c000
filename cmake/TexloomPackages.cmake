# Finds third-party libraries. A missing one is an error that names its Debian package.

function(texloom_missing what package)
  message(FATAL_ERROR "Texloom needs ${what}, which was not found.\n"
                      "  Debian or Ubuntu: apt-get install ${package}\n"
                      "  In a checkout of Texloom, ./dev setup installs everything.")
endfunction()

# Headers only: src/support/fmt.cc is the implementation.
find_path(TEXLOOM_FMT_INCLUDE fmt/format.h)
mark_as_advanced(TEXLOOM_FMT_INCLUDE)
set(texloom_fmt_version 0)
if(TEXLOOM_FMT_INCLUDE)
  # Since version 11 the number is in base.h.
  foreach(header core base)
    if(EXISTS ${TEXLOOM_FMT_INCLUDE}/fmt/${header}.h)
      file(STRINGS ${TEXLOOM_FMT_INCLUDE}/fmt/${header}.h texloom_fmt_line REGEX "define FMT_VERSION ")
      if(texloom_fmt_line MATCHES "FMT_VERSION ([0-9]+)")
        set(texloom_fmt_version ${CMAKE_MATCH_1})
      endif()
    endif()
  endforeach()
endif()
if(texloom_fmt_version LESS 90000)
  texloom_missing("the library {fmt}, version 9 or newer" libfmt-dev)
endif()
# Version 10 and later declare other functions than src/support/fmt.cc instantiates.
set(texloom_fmt_mode FMT_SHARED)  # a program and the libraries it loads may share the functions
if(texloom_fmt_version GREATER_EQUAL 100000)
  set(texloom_fmt_mode FMT_HEADER_ONLY)
endif()
add_library(texloom_fmt INTERFACE)
target_include_directories(texloom_fmt SYSTEM INTERFACE $<BUILD_INTERFACE:${TEXLOOM_FMT_INCLUDE}>)
target_compile_definitions(texloom_fmt INTERFACE ${texloom_fmt_mode})

# Headers only: the loader (libOpenCL.so.1) is opened at run time.
find_path(TEXLOOM_OPENCL_INCLUDE CL/cl.h)
mark_as_advanced(TEXLOOM_OPENCL_INCLUDE)
if(NOT TEXLOOM_OPENCL_INCLUDE)
  texloom_missing("the OpenCL headers (CL/cl.h)" opencl-c-headers)
endif()
add_library(texloom_opencl_headers INTERFACE)
target_include_directories(texloom_opencl_headers SYSTEM INTERFACE
                           $<BUILD_INTERFACE:${TEXLOOM_OPENCL_INCLUDE}>)
# Declares all of OpenCL 3.0; a device's version is queried at run time.
target_compile_definitions(texloom_opencl_headers INTERFACE CL_TARGET_OPENCL_VERSION=300)

# Headers only: its functions are inlined.
find_path(TEXLOOM_XXHASH_INCLUDE xxhash.h)
mark_as_advanced(TEXLOOM_XXHASH_INCLUDE)
if(NOT TEXLOOM_XXHASH_INCLUDE)
  texloom_missing("the header of xxHash (xxhash.h)" libxxhash-dev)
endif()

# The index of package files: a schema, from which flatc generates a header that needs only headers.
find_program(TEXLOOM_FLATC flatc)
find_path(TEXLOOM_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h)
mark_as_advanced(TEXLOOM_FLATC TEXLOOM_FLATBUFFERS_INCLUDE)
if(NOT TEXLOOM_FLATC)
  texloom_missing("the schema compiler of FlatBuffers (flatc)" flatbuffers-compiler)
endif()
if(NOT TEXLOOM_FLATBUFFERS_INCLUDE)
  texloom_missing("the headers of FlatBuffers (flatbuffers/flatbuffers.h)" libflatbuffers-dev)
endif()

find_package(Threads REQUIRED)

if(TEXLOOM_TESTS)
  find_package(GTest QUIET)
  # When cross-compiling, build it from the sources in Debian's libgtest-dev.
  if(NOT GTest_FOUND AND CMAKE_CROSSCOMPILING AND EXISTS /usr/src/googletest)
    set(texloom_warnings ${CMAKE_COMPILE_WARNING_AS_ERROR})
    set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
    add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
    set(CMAKE_COMPILE_WARNING_AS_ERROR ${texloom_warnings})
  elseif(NOT GTest_FOUND)
    texloom_missing("GoogleTest (or configure with -DTEXLOOM_TESTS=OFF)" libgtest-dev)
  endif()
endif()

if(TEXLOOM_PYTHON)
  if(NOT Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  endif()
  find_package(Python 3.10 QUIET COMPONENTS Interpreter Development.Module)
  if(NOT Python_FOUND)
    texloom_missing("Python 3.10 or newer with its headers (or configure with -DTEXLOOM_PYTHON=OFF)"
                    python3-dev)
  endif()
  # pybind11 from PyPI reports the location of its CMake files.
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import pybind11; print(pybind11.get_cmake_dir())"
                  OUTPUT_VARIABLE texloom_pybind11_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(pybind11 CONFIG QUIET HINTS "${texloom_pybind11_dir}")
  if(NOT pybind11_FOUND)
    texloom_missing("pybind11 (PyPI: pip install pybind11)" pybind11-dev)
  endif()
endif()
