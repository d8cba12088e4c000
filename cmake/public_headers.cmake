# Writes the headers that other projects include, as in <texloom/runtime/hal/device.h>:
#   cmake -DSOURCE=<src> -DTARGET=<folder> "-DHEADERS=<path below src>;..." -DSTAMP=<file> -P ...
# They are the headers of this project with two changes. Includes of other Texloom headers begin
# with texloom/, so that these headers and the user's never hide each other. The text between
# "[not public" and "not public]" is left out, with the {fmt} header that it needs, because the user
# may have another version of {fmt}. A file that would not change is not written, so that nothing is
# recompiled for it. The stamp lists what was written: headers of libraries in folders below this one
# are not its own.
set(stale "")
if(EXISTS ${STAMP})
  file(STRINGS ${STAMP} stale)
endif()
foreach(header IN LISTS HEADERS)
  file(READ ${SOURCE}/${header} text)
  string(REGEX REPLACE "// \\[not public.*// not public\\]\n" "\n" text "${text}")
  string(REGEX REPLACE "#include <fmt/[a-z]+\\.h>\n\n?" "" text "${text}")
  string(REGEX REPLACE "#include \"(plan|runtime|support)/" "#include \"texloom/\\1/" text "${text}")
  set(old "")
  if(EXISTS ${TARGET}/${header})
    file(READ ${TARGET}/${header} old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE ${TARGET}/${header} "${text}")
  endif()
  list(REMOVE_ITEM stale ${header})
endforeach()
list(TRANSFORM stale PREPEND ${TARGET}/)
if(stale)
  file(REMOVE ${stale})
endif()
list(JOIN HEADERS "\n" written)
file(WRITE ${STAMP} "${written}\n")
