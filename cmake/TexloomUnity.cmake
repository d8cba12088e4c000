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

# texloom_unity(<target>): compiles the C++ and Objective-C++ sources of a target in groups, if enabled.
function(texloom_unity target)
  if(NOT TEXLOOM_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  texloom_unity_groups("\\.cc$" "${sources}")
  foreach(group IN LISTS groups)
    set_source_files_properties(${sources_of_${group}} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)

  # CMake itself groups Objective-C++ from 3.29 on.
  texloom_unity_groups("\\.mm$" "${sources}")
  foreach(group IN LISTS groups)
    set(includes ${sources_of_${group}})
    list(TRANSFORM includes REPLACE "(.+)" "#include \"\\1\"")
    list(JOIN includes "\n" includes)
    set(unity ${CMAKE_CURRENT_BINARY_DIR}/Unity/unity_${group}.mm)
    file(CONFIGURE OUTPUT ${unity} CONTENT "${includes}\n" @ONLY)
    set_source_files_properties(${sources_of_${group}} PROPERTIES HEADER_FILE_ONLY ON)
    target_sources(${target} PRIVATE ${unity})
  endforeach()
endfunction()

# texloom_unity_groups(<pattern> <sources>): sets `groups`, and `sources_of_<group>` for each, for the
# sources that match the pattern. A group holds sources of one folder, or all of several small
# folders, so that a new source changes few groups.
function(texloom_unity_groups pattern sources)
  list(FILTER sources INCLUDE REGEX "${pattern}")
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET source PARENT_PATH folder)
    list(APPEND folders ${folder})
    list(APPEND sources_in_${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  list(SORT folders)

  set(groups)
  set(held ${TEXLOOM_UNITY_SIZE})  # the number of sources of the last group
  foreach(folder IN LISTS folders)
    list(LENGTH sources_in_${folder} count)
    math(EXPR parts "(${count} + ${TEXLOOM_UNITY_SIZE} - 1) / ${TEXLOOM_UNITY_SIZE}")
    math(EXPR size "(${count} + ${parts} - 1) / ${parts}")
    math(EXPR together "${held} + ${count}")
    if(together GREATER TEXLOOM_UNITY_SIZE)
      set(held ${TEXLOOM_UNITY_SIZE})
    else()
      set(size ${TEXLOOM_UNITY_SIZE})
    endif()
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${folder})
    string(REPLACE "/" "_" name ${name})
    set(index 0)
    foreach(source IN LISTS sources_in_${folder})
      if(held GREATER_EQUAL size)
        set(group ${name}_${index})
        set(held 0)
        math(EXPR index "${index} + 1")
        list(APPEND groups ${group})
        set(sources_of_${group})
      endif()
      list(APPEND sources_of_${group} ${source})
      math(EXPR held "${held} + 1")
    endforeach()
  endforeach()
  set(groups ${groups} PARENT_SCOPE)
  foreach(group IN LISTS groups)
    set(sources_of_${group} ${sources_of_${group}} PARENT_SCOPE)
  endforeach()
endfunction()
