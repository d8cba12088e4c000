// Machine code for NVIDIA's GPUs, whose OpenCL driver gives back PTX.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "support/status.h"

namespace texloom::hal::opencl {

// Assembles kernels for one device by CUDA's driver (libcuda.so.1), which NVIDIA's OpenCL installs
// with it. From the first use on it keeps CUDA's primary context of the device. Thread safe.
class Assembler {
 public:
  // `device` is the name by which OpenCL and CUDA know the device.
  explicit Assembler(std::string device) : device_(std::move(device)) {}
  ~Assembler();
  Assembler(const Assembler&) = delete;
  Assembler& operator=(const Assembler&) = delete;

  // Returns the machine code of PTX: NVIDIA's OpenCL takes it as a binary, and has nothing to
  // compile then. Empty for other binaries, and where CUDA's driver is missing or lacks the device.
  // Fails with the driver's log if it refuses the PTX.
  Result<std::string> machine_code_of(std::string binary);

 private:
  struct Cuda {
    int device = 0;  // CUDA's number
    void* context = nullptr;
  };
  // The context of the device, retained at the first call; nullopt if there is none.
  std::optional<Cuda> cuda();

  const std::string device_;
  std::mutex opening_;  // guards the members below
  bool was_opened_ = false;
  std::optional<Cuda> cuda_;
};

}  // namespace texloom::hal::opencl
