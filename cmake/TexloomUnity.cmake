# Unity builds: the compiler reads several sources of a folder as one, so that it parses our headers
# and instantiates their templates once for all of them, which halves the time of a build.
#
# A unity build only saves time: every source must include what it uses, and names that are local to
# a file must differ within a folder. clang-tidy and GCC read every source alone, and so check the
# first; the unity build itself notices the second.
option(TEXLOOM_UNITY "Compile several sources of a folder as one" OFF)
# An edited source recompiles those beside it, so groups are small.
set(TEXLOOM_UNITY_SIZE 8 CACHE STRING "How many sources a unity source includes at most")
mark_as_advanced(TEXLOOM_UNITY_SIZE)

# texloom_unity(<target>): compiles the C++ sources of a target in groups, if enabled. A group holds
# sources of one folder, or all of several small folders, so that a new source changes few groups.
function(texloom_unity target)
  if(NOT TEXLOOM_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders ${folder})
    list(APPEND sources_of_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  list(SORT folders)

  set(held ${TEXLOOM_UNITY_SIZE})  # the number of sources of the last group
  foreach(folder IN LISTS folders)
    list(LENGTH sources_of_${folder} count)
    math(EXPR groups "(${count} + ${TEXLOOM_UNITY_SIZE} - 1) / ${TEXLOOM_UNITY_SIZE}")
    math(EXPR size "(${count} + ${groups} - 1) / ${groups}")
    math(EXPR together "${held} + ${count}")
    if(together GREATER TEXLOOM_UNITY_SIZE)
      set(held ${TEXLOOM_UNITY_SIZE})
    else()
      set(size ${TEXLOOM_UNITY_SIZE})
    endif()
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" name ${name})
    set(index 0)
    foreach(source IN LISTS sources_of_${folder})
      if(held GREATER_EQUAL size)
        set(group ${name}_${index})
        set(held 0)
        math(EXPR index "${index} + 1")
      endif()
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
      math(EXPR held "${held} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
