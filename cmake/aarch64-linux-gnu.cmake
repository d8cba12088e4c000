# A toolchain file for aarch64, with Debian's cross compiler. Programs run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)

# Nothing of this machine is found except processor-independent headers. They are in a folder of
# links, because all of /usr/include would hide the target's own headers.
set(texloom_headers ${CMAKE_BINARY_DIR}/headers)
file(MAKE_DIRECTORY ${texloom_headers}/include)
foreach(name CL flatbuffers fmt xxhash.h)
  file(CREATE_LINK /usr/include/${name} ${texloom_headers}/include/${name} SYMBOLIC)
endforeach()
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu ${texloom_headers})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
