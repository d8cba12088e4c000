# Writes the headers that programs of others include, as <texloom/runtime/hal/device.h>:
#   cmake -DSOURCE=<src> -DTARGET=<folder> -DFOLDER=runtime "-DHEADERS=<path below src>;..." -P ...
# They are ours with two changes. What they include of ours is spelled from texloom/ on, so that
# nothing of the user's is found instead, and nothing of ours instead of the user's. What stands
# between "[not public" and "not public]" is left out with the header of {fmt} that it needs: the
# user may have another version of that. A file that would not change is not written, so that
# nothing is compiled again for it.
file(GLOB_RECURSE stale ${TARGET}/${FOLDER}/*.h)
foreach(header IN LISTS HEADERS)
  file(READ ${SOURCE}/${header} text)
  string(REGEX REPLACE "// \\[not public.*// not public\\]\n" "\n" text "${text}")
  string(REGEX REPLACE "#include <fmt/[a-z]+\\.h>\n\n?" "" text "${text}")
  string(REGEX REPLACE "#include \"(runtime|support)/" "#include \"texloom/\\1/" text "${text}")
  set(old "")
  if(EXISTS ${TARGET}/${header})
    file(READ ${TARGET}/${header} old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE ${TARGET}/${header} "${text}")
  endif()
  list(REMOVE_ITEM stale ${TARGET}/${header})
endforeach()
if(stale)
  file(REMOVE ${stale})
endif()
