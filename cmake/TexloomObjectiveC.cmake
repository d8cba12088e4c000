# Objective-C++ on systems that are not Apple's: clang with GCC's runtime, GNUstep's Foundation and
# blocks. The software Metal of the tests, and what is tested with it, are compiled so. Included from
# the top, as a language is enabled there for all folders.
find_program(SOFTMETAL_CLANG NAMES clang++-19 clang++)
if(NOT SOFTMETAL_CLANG)
  texloom_missing("clang 19, which compiles Metal programs for the tests" clang-19)
endif()
if(NOT CMAKE_OBJCXX_COMPILER)
  set(CMAKE_OBJCXX_COMPILER ${SOFTMETAL_CLANG})
endif()
if(TEXLOOM_CCACHE AND NOT CMAKE_OBJCXX_COMPILER_LAUNCHER)
  set(CMAKE_OBJCXX_COMPILER_LAUNCHER ${TEXLOOM_CCACHE})
endif()
enable_language(OBJCXX)
set(CMAKE_OBJCXX_STANDARD 20)
set(CMAKE_OBJCXX_STANDARD_REQUIRED ON)
set(CMAKE_OBJCXX_EXTENSIONS OFF)
set(CMAKE_OBJCXX_VISIBILITY_PRESET hidden)

# GCC's own headers must not come before clang's, so the folder objc/ alone is seen.
execute_process(COMMAND ${SOFTMETAL_CLANG} -print-file-name=libobjc.so
                OUTPUT_VARIABLE texloom_libobjc OUTPUT_STRIP_TRAILING_WHITESPACE)
cmake_path(GET texloom_libobjc PARENT_PATH texloom_objc_folder)
if(NOT EXISTS ${texloom_objc_folder}/include/objc/objc.h)
  texloom_missing("the headers of GCC's Objective-C runtime, for the tests" libobjc-12-dev)
endif()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/objective_c)
file(CREATE_LINK ${texloom_objc_folder}/include/objc ${PROJECT_BINARY_DIR}/objective_c/objc SYMBOLIC)

find_path(TEXLOOM_GNUSTEP_INCLUDE Foundation/Foundation.h PATH_SUFFIXES GNUstep)
find_library(TEXLOOM_GNUSTEP_BASE gnustep-base)
mark_as_advanced(TEXLOOM_GNUSTEP_INCLUDE TEXLOOM_GNUSTEP_BASE)
if(NOT TEXLOOM_GNUSTEP_INCLUDE OR NOT TEXLOOM_GNUSTEP_BASE)
  texloom_missing("GNUstep's Foundation, for the tests" libgnustep-base-dev)
endif()
find_library(TEXLOOM_BLOCKS_RUNTIME BlocksRuntime)
mark_as_advanced(TEXLOOM_BLOCKS_RUNTIME)
if(NOT TEXLOOM_BLOCKS_RUNTIME)
  texloom_missing("the runtime of blocks, for the tests" libblocksruntime-dev)
endif()

add_library(texloom_objective_c INTERFACE)
target_include_directories(texloom_objective_c SYSTEM INTERFACE
  ${PROJECT_BINARY_DIR}/objective_c ${TEXLOOM_GNUSTEP_INCLUDE})
target_compile_definitions(texloom_objective_c INTERFACE
  GNUSTEP GNUSTEP_BASE_LIBRARY=1 GNU_RUNTIME=1 _NATIVE_OBJC_EXCEPTIONS)
target_compile_options(texloom_objective_c INTERFACE
  $<$<COMPILE_LANGUAGE:OBJCXX>:-fobjc-runtime=gcc;-fblocks;-fexceptions;-fconstant-string-class=NSConstantString>)
# GNUstep exports a _Block_copy that copies nothing, so the real one comes first.
target_link_libraries(texloom_objective_c INTERFACE
  ${TEXLOOM_BLOCKS_RUNTIME} ${TEXLOOM_GNUSTEP_BASE} ${texloom_libobjc} Threads::Threads)
