// Loads the functions of the OpenCL 1.2 API from a loader library at run time.
#pragma once

// This driver calls nothing newer, whatever version other code is built for.
#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <span>
#include <string>

#include "support/status.h"

// Every function that the driver calls.
#define TL_OPENCL_FUNCTIONS(X)   \
  X(clGetPlatformIDs)            \
  X(clGetPlatformInfo)           \
  X(clGetDeviceIDs)              \
  X(clGetDeviceInfo)             \
  X(clCreateContext)             \
  X(clReleaseContext)            \
  X(clGetSupportedImageFormats)  \
  X(clCreateCommandQueue)        \
  X(clReleaseCommandQueue)       \
  X(clFlush)                     \
  X(clFinish)                    \
  X(clCreateBuffer)              \
  X(clCreateSubBuffer)           \
  X(clCreateImage)               \
  X(clReleaseMemObject)          \
  X(clCreateProgramWithSource)   \
  X(clCreateProgramWithBinary)   \
  X(clBuildProgram)              \
  X(clGetProgramInfo)            \
  X(clGetProgramBuildInfo)       \
  X(clReleaseProgram)            \
  X(clCreateKernel)              \
  X(clGetKernelInfo)             \
  X(clGetKernelArgInfo)          \
  X(clGetKernelWorkGroupInfo)    \
  X(clSetKernelArg)              \
  X(clReleaseKernel)             \
  X(clWaitForEvents)             \
  X(clGetEventInfo)              \
  X(clGetEventProfilingInfo)     \
  X(clReleaseEvent)              \
  X(clEnqueueWriteBuffer)        \
  X(clEnqueueReadBuffer)         \
  X(clEnqueueCopyBuffer)         \
  X(clEnqueueFillBuffer)         \
  X(clEnqueueCopyBufferRect)     \
  X(clEnqueueCopyBufferToImage)  \
  X(clEnqueueCopyImageToBuffer)  \
  X(clEnqueueCopyImage)          \
  X(clEnqueueMapBuffer)          \
  X(clEnqueueUnmapMemObject)     \
  X(clEnqueueNDRangeKernel)      \
  X(clEnqueueMarkerWithWaitList) \
  X(clEnqueueBarrierWithWaitList)

namespace texloom::hal::opencl {

// An immutable table of function pointers, shared by everything that the driver makes. A test may
// pass the driver a table with its own functions.
struct Api {
#define TL_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  TL_OPENCL_FUNCTIONS(TL_OPENCL_MEMBER)
#undef TL_OPENCL_MEMBER
};

// Opens the first of the libraries that exists. Unavailable, with advice on what to install, if
// none exists or if it lacks a function. The library stays loaded for the lifetime of the process:
// OpenCL implementations keep threads running, whose code must not be unloaded.
Result<std::shared_ptr<const Api>> load_api(std::span<const std::string> library_paths);

}  // namespace texloom::hal::opencl
