# What a wheel has besides the Python files: the extension module with its stubs, the LLVM plug-in, and
# the licenses of what is linked into them. scikit-build-core installs the component python.
set(texloom_exports ${PROJECT_SOURCE_DIR}/python/core/exports.map)  # not the templates of libraries
set_property(TARGET _core PROPERTY LINK_DEPENDS ${texloom_exports})
target_link_options(_core PRIVATE -Wl,--version-script=${texloom_exports})
install(TARGETS _core LIBRARY DESTINATION texloom COMPONENT python)
set(texloom_linked libfmt-dev libflatbuffers-dev libxxhash-dev opencl-c-headers)
if(TARGET texloom_llvm)
  install(TARGETS texloom_llvm LIBRARY DESTINATION texloom COMPONENT python)
endif()
if(TEXLOOM_LLVM_STATIC)
  list(APPEND texloom_linked llvm-19-dev liblld-19-dev libpolly-19-dev libzstd-dev zlib1g-dev)
endif()

# Made anew by each build, as methods come from Python files, too.
set(texloom_stubs ${PROJECT_BINARY_DIR}/stubs)
add_custom_target(texloom_stubs ALL
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/core_stubs.py $<TARGET_FILE:_core> ${texloom_stubs}
  DEPENDS _core
  BYPRODUCTS ${texloom_stubs}/texloom/_core.pyi
  COMMENT "Writing the stubs of texloom._core"
  VERBATIM)
install(FILES ${texloom_stubs}/texloom/_core.pyi DESTINATION texloom COMPONENT python)

# texloom_license(<name> <file>): puts the license of a library into the wheel. A wheel that is given to
# others has all of them; one that is installed where it is built may lack some.
function(texloom_license name file)
  if(EXISTS "${file}")
    install(FILES ${file} DESTINATION ${SKBUILD_METADATA_DIR}/licenses RENAME ${name}.txt COMPONENT python)
  elseif(TEXLOOM_LLVM_STATIC)
    message(FATAL_ERROR "The license of ${name} is not at ${file}: a wheel that has LLVM inside is made on "
                        "Debian 12 or newer (./dev wheel)")
  endif()
endfunction()

# Debian has the license of each package, for the version that is installed.
foreach(texloom_package IN LISTS texloom_linked)
  texloom_license(${texloom_package} /usr/share/doc/${texloom_package}/copyright)
endforeach()
file(GLOB texloom_pybind11_license ${pybind11_DIR}/../../../../pybind11-*.dist-info/licenses/LICENSE)
texloom_license(pybind11 "${texloom_pybind11_license}")
