# Reads the table of micro-kernels, variants.def: `targets`, and for each of them
# `<target>_architecture` and `<target>_features`. Says how its tiles are compiled: `tile_options`, and
# options_of().

# Neither a system nor a library is there when a tile is computed. Floating-point operations are not
# contracted, so that each result is what the source says.
set(tile_options -std=c11 -O3 -ffreestanding -ffp-contract=off -fno-math-errno -fno-stack-protector
                 -fno-exceptions -fno-asynchronous-unwind-tables -fno-unwind-tables -Wall -Wextra
                 -Wno-unused-parameter -Wno-unknown-pragmas)

# Reads "target architecture features" of each row of MMT4D_TARGET.
set(table ${CMAKE_CURRENT_LIST_DIR}/variants.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
file(STRINGS ${table} rows REGEX "^MMT4D_TARGET\\(")
set(targets)
foreach(row IN LISTS rows)
  string(REGEX MATCH "^MMT4D_TARGET\\(([a-z0-9_]+), ([a-z0-9_]+), \"([^\"]*)\"\\)$" match "${row}")
  if(NOT match)
    message(FATAL_ERROR "${table}: not MMT4D_TARGET(target, architecture, \"features\"): ${row}")
  endif()
  set(name ${CMAKE_MATCH_1})
  list(APPEND targets ${name})
  set(${name}_architecture ${CMAKE_MATCH_2})
  string(REPLACE "," ";" ${name}_features "${CMAKE_MATCH_3}")
endforeach()

# Sets `out` to the options with which GCC and clang compile for a target. The features are named as
# in LLVM; -march of aarch64 has another name for one of them. The base of aarch64's extensions is
# ARMv8.2 for GCC, which has no extensions of earlier versions, and ARMv8.0 for bitcode, as a function
# is inlined only where all of its features are.
function(options_of target base out)
  set(options)
  if(${target}_architecture STREQUAL "x86_64")
    list(TRANSFORM ${target}_features PREPEND "-m" OUTPUT_VARIABLE options)
  elseif(${target}_architecture STREQUAL "aarch64")
    list(FILTER ${target}_features EXCLUDE REGEX "^neon$")
    list(TRANSFORM ${target}_features REPLACE "^fullfp16$" "fp16")
    list(JOIN ${target}_features "+" extensions)
    set(options -march=armv8-a)
    if(extensions)
      set(options -march=${base}+${extensions})
    endif()
  endif()
  set(${out} ${options} PARENT_SCOPE)
endfunction()
