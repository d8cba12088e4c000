# Defines the kinds of targets. Each collects the sources of its folder, so that a new file needs no
# change here.

# Collects the sources of a folder and its subfolders, except subfolders that are separate targets
# (those with a CMakeLists.txt).
function(texloom_collect_sources out folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  file(GLOB_RECURSE nested CONFIGURE_DEPENDS ${folder}/CMakeLists.txt)
  foreach(list IN LISTS nested)
    cmake_path(GET list PARENT_PATH subfolder)
    if(NOT subfolder STREQUAL folder)
      list(FILTER sources EXCLUDE REGEX "^${subfolder}/")
    endif()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Links the named Texloom libraries that exist: a folder without sources has no target.
function(texloom_link target visibility)
  foreach(dep IN LISTS ARGN)
    if(TARGET texloom_${dep})
      target_link_libraries(${target} ${visibility} texloom_${dep})
    endif()
  endforeach()
endfunction()

# Collects the Texloom libraries that a target links, those that they link included.
function(texloom_collect_libraries out target)
  set(libraries ${${out}})
  get_target_property(linked ${target} LINK_LIBRARIES)
  foreach(library IN LISTS linked)
    if(library MATCHES "^texloom_" AND TARGET ${library} AND NOT library IN_LIST libraries)
      get_target_property(type ${library} TYPE)
      if(type STREQUAL "STATIC_LIBRARY")
        list(APPEND libraries ${library})
        texloom_collect_libraries(libraries ${library})
      endif()
    endif()
  endforeach()
  set(${out} ${libraries} PARENT_SCOPE)
endfunction()

# Has the optimized functions of headers serve the target, which is compiled without optimization. Of
# the definitions of an inline function, the first that the linker reads stays; the target's own would
# come before those of the libraries, whose code would then call it: a third of the time of tests.
function(texloom_prefer_libraries target)
  if(NOT TEXLOOM_LLD)
    return()
  endif()
  texloom_collect_libraries(libraries ${target})
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  target_link_options(${target} PRIVATE -Wl,--whole-archive ${files} -Wl,--no-whole-archive)
endfunction()

# texloom_library(<name> [DEPS <Texloom library>...] [PUBLIC_LIBS <library>...])
# Adds the static library texloom_<name> of the current folder; #includes are relative to src/.
function(texloom_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS;PUBLIC_LIBS")
  texloom_collect_sources(sources ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT sources)
    message(STATUS "Texloom: ${name} has no sources, skipped")
    return()
  endif()
  add_library(texloom_${name} STATIC ${sources})
  target_include_directories(texloom_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(texloom_${name} PRIVATE $<BUILD_INTERFACE:texloom_options>
                                        PUBLIC ${arg_PUBLIC_LIBS})
  texloom_link(texloom_${name} PUBLIC ${arg_DEPS})
  texloom_use_precompiled(texloom_${name} library)
  texloom_unity(texloom_${name})
endfunction()

# texloom_python_module(<name> [DEPS <Texloom library>...])
# Adds the extension module texloom.<name> of python/core. In a checkout it is built into
# python/texloom (or the folder TEXLOOM_PYTHON_OUTPUT), so that python/ on the path is enough.
function(texloom_python_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS")
  texloom_collect_sources(sources ${PROJECT_SOURCE_DIR}/python/core)
  if(NOT sources)
    message(STATUS "Texloom: python/core has no sources, the Python module is skipped")
    return()
  endif()
  pybind11_add_module(${name} MODULE NO_EXTRAS ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/python)
  target_link_libraries(${name} PRIVATE texloom_options)
  target_compile_options(${name} PRIVATE ${texloom_python_options})
  texloom_link(${name} PRIVATE ${arg_DEPS})
  texloom_prefer_libraries(${name})
  texloom_use_precompiled(${name} python)
  texloom_unity(${name})
  if(NOT SKBUILD)  # else cmake/TexloomWheel.cmake installs it
    set_target_properties(${name} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${TEXLOOM_PYTHON_OUTPUT}/texloom)
  endif()
endfunction()

# texloom_test(<folder> [DEPS <Texloom library>...] [APART <suite>])
# Adds one executable and one ctest for tests/<folder>, or two: the long test suite APART becomes
# <folder>_<suite>, with the label nightly, which ./dev test leaves to its part sanitize; #includes are
# relative to src/ and, for headers shared by tests, to the root ("tests/ir/…").
function(texloom_test folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "APART" "DEPS")
  texloom_collect_sources(sources ${PROJECT_SOURCE_DIR}/tests/${folder})
  if(NOT sources)
    message(STATUS "Texloom: tests/${folder} has no sources, skipped")
    return()
  endif()
  if(TEXLOOM_SANITIZE)
    list(APPEND sources ${PROJECT_SOURCE_DIR}/tests/sanitizer_options.cc)
  endif()
  add_executable(${folder}_tests ${sources})
  target_include_directories(${folder}_tests PRIVATE ${PROJECT_SOURCE_DIR}
                                                     ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${folder}_tests PRIVATE ${texloom_quick_options})
  target_link_libraries(${folder}_tests PRIVATE texloom_options GTest::gtest_main GTest::gmock)
  texloom_link(${folder}_tests PRIVATE ${arg_DEPS})
  texloom_prefer_libraries(${folder}_tests)
  texloom_use_precompiled(${folder}_tests test)
  texloom_unity(${folder}_tests)
  set(left_out)
  if(arg_APART)
    add_test(NAME ${folder}_${arg_APART} COMMAND ${folder}_tests --gtest_brief=1
             --gtest_filter=${arg_APART}.* WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${folder}_${arg_APART} PROPERTIES TIMEOUT 600 COST 1000 LABELS nightly)
    list(APPEND left_out ${arg_APART}.*)
  endif()
  # Under an emulator, a death test cannot start its own executable.
  if(CMAKE_CROSSCOMPILING)
    list(APPEND left_out *DeathTest.*)
  endif()
  if(left_out)
    list(JOIN left_out ":" left_out)
    set(selection --gtest_filter=-${left_out})
  endif()
  add_test(NAME ${folder} COMMAND ${folder}_tests --gtest_brief=1 ${selection}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${folder} PROPERTIES TIMEOUT 600)
endfunction()

# texloom_on_demand(<target>...): leaves out of `all` what ./dev test does not run. The build with
# sanitizers and the release build compile everything, so that an error is noticed there.
function(texloom_on_demand)
  if(TEXLOOM_QUICK_BUILD AND NOT TEXLOOM_SANITIZE)
    set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()
