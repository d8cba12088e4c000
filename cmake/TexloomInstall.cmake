# The install tree, from which other projects take the runtime: find_package(texloom) finds there the
# static libraries texloom::runtime and texloom::support, which is all that has to be linked. The
# wheel is installed by another component (texloom_python_module).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(texloom_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/texloom)
# Our #includes are relative to this folder, as they are to src/ in a checkout.
set(texloom_header_dir ${CMAKE_INSTALL_INCLUDEDIR}/texloom)

# texloom_embeddable(<name> HEADERS <pattern>...)
# Makes the library of the current folder one that other programs link: as texloom::<name> in this
# build and from an install tree, with the headers that match; every function in a section of its
# own, so that a program can leave out what it does not call.
function(texloom_embeddable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS")
  add_library(texloom::${name} ALIAS texloom_${name})
  set_target_properties(texloom_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(texloom_${name} PUBLIC cxx_std_20)
  target_compile_options(texloom_${name} PRIVATE -ffunction-sections -fdata-sections)
  if(NOT TEXLOOM_INSTALL)
    return()
  endif()
  install(TARGETS texloom_${name} EXPORT texloom
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
          INCLUDES DESTINATION ${texloom_header_dir})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(pattern IN LISTS arg_HEADERS)
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${pattern})
    foreach(header IN LISTS headers)
      cmake_path(GET header PARENT_PATH subfolder)
      install(FILES ${header} DESTINATION ${texloom_header_dir}/${folder}/${subfolder}
              COMPONENT development)
    endforeach()
  endforeach()
endfunction()

if(TEXLOOM_INSTALL)
  # {fmt}'s headers go along: a program has to see those that the libraries were compiled with.
  install(TARGETS texloom_fmt EXPORT texloom INCLUDES DESTINATION ${texloom_header_dir})
  set_target_properties(texloom_fmt PROPERTIES EXPORT_NAME fmt)
  install(DIRECTORY ${TEXLOOM_FMT_INCLUDE}/fmt/ DESTINATION ${texloom_header_dir}/fmt
          COMPONENT development FILES_MATCHING PATTERN *.h)
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
