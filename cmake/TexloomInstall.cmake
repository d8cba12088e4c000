# The install tree, from which other projects use the runtime. There find_package(texloom) finds the
# static libraries texloom::runtime and, above it, texloom::drivers (the list of all drivers) and
# texloom::c_api; nothing else must be linked.
# The wheel is another component (cmake/TexloomWheel.cmake).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(texloom_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/texloom)
# The include path for other projects, both in this build and in an install tree: a folder that
# contains only texloom/.
set(texloom_public_include ${PROJECT_BINARY_DIR}/include)

# texloom_embeddable(<name> HEADERS <pattern>... [DEPS <Texloom library>...])
# Makes the library of the current folder available to other projects as texloom::<name>, both in
# this build and from an install tree. The headers that match are included as <texloom/...>. Each
# function has its own section, so that a program can drop what it does not call. A shared library
# that links it exports none of its symbols.
function(texloom_embeddable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;DEPS")
  target_compile_features(texloom_${name} PUBLIC cxx_std_20)
  target_compile_options(texloom_${name} PRIVATE -ffunction-sections -fdata-sections)

  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM arg_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  file(GLOB sources CONFIGURE_DEPENDS ${arg_HEADERS})
  file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR}/src ${arg_HEADERS})
  set(script ${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake)
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/public_headers.stamp)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/src
            -DTARGET=${texloom_public_include}/texloom "-DHEADERS=${headers}"
            -DSTAMP=${stamp} -P ${script}
    DEPENDS ${sources} ${script}
    COMMENT "Writing the public headers of ${name}"
    VERBATIM)
  add_custom_target(texloom_${name}_headers DEPENDS ${stamp})

  # Other projects do not inherit the options with which the library itself is compiled.
  add_library(texloom_${name}_public INTERFACE)
  add_library(texloom::${name} ALIAS texloom_${name}_public)
  add_dependencies(texloom_${name}_public texloom_${name}_headers)
  target_compile_features(texloom_${name}_public INTERFACE cxx_std_20)
  target_include_directories(texloom_${name}_public INTERFACE ${texloom_public_include})
  target_link_libraries(texloom_${name}_public INTERFACE $<LINK_ONLY:texloom_${name}>)
  foreach(dep IN LISTS arg_DEPS)
    target_link_libraries(texloom_${name}_public INTERFACE texloom_${dep}_public)
  endforeach()
  set(hide LINKER:--exclude-libs,$<TARGET_FILE_NAME:texloom_${name}>)
  target_link_options(texloom_${name}_public INTERFACE ${hide})

  if(NOT TEXLOOM_INSTALL)
    return()
  endif()
  set_target_properties(texloom_${name}_headers PROPERTIES EXCLUDE_FROM_ALL FALSE)
  set_target_properties(texloom_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_options(texloom_${name} INTERFACE
                      $<INSTALL_INTERFACE:LINKER:--exclude-libs,libtexloom_${name}.a>)
  install(TARGETS texloom_${name} EXPORT texloom
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  cmake_path(GET folder PARENT_PATH above)  # runtime, of runtime/c_api
  install(DIRECTORY ${texloom_public_include}/texloom/${folder}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/texloom/${above} COMPONENT development)
endfunction()

if(TEXLOOM_INSTALL)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
          COMPONENT development)
  install(EXPORT texloom NAMESPACE texloom:: FILE texloomTargets.cmake
          DESTINATION ${texloom_package_dir} COMPONENT development)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/texloomConfig.cmake.in
                                ${PROJECT_BINARY_DIR}/texloomConfig.cmake
                                INSTALL_DESTINATION ${texloom_package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/texloomConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/texloomConfig.cmake
                ${PROJECT_BINARY_DIR}/texloomConfigVersion.cmake
          DESTINATION ${texloom_package_dir} COMPONENT development)
endif()
