// Machine code for NVIDIA's GPUs, whose OpenCL driver gives back PTX.
#pragma once

#include <string>

namespace texloom::hal::opencl {

// Returns the machine code of PTX, as CUDA's driver assembles it for the device with this name.
// NVIDIA's OpenCL takes it as a binary, and has nothing to compile then. Empty for other binaries,
// and without CUDA's driver (libcuda.so.1), which NVIDIA's OpenCL installs with it.
std::string machine_code_of(const std::string& binary, const std::string& device);

}  // namespace texloom::hal::opencl
