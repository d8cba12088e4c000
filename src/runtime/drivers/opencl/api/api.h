// Loads functions of the OpenCL API from a loader library at run time: all of version 1.2 that the
// driver needs, and those of newer versions that it uses if the loader has them.
#pragma once

// This driver calls no functions of later versions, even if other code is built for one.
#undef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue
#include <CL/cl.h>

#include <memory>
#include <span>
#include <string>

#include "support/status.h"

// Every function of version 1.2 that the driver calls for its own objects.
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

// Functions of version 1.2 for objects of an application.
#define TL_OPENCL_SHARING_FUNCTIONS(X) \
  X(clGetContextInfo)                  \
  X(clRetainContext)                   \
  X(clGetCommandQueueInfo)             \
  X(clRetainCommandQueue)              \
  X(clGetMemObjectInfo)                \
  X(clGetImageInfo)                    \
  X(clRetainMemObject)

// Functions of version 2.0, null if the loader is older.
#define TL_OPENCL_2_FUNCTIONS(X) \
  X(clSVMAlloc)                  \
  X(clSVMFree)                   \
  X(clSetKernelArgSVMPointer)

namespace texloom::hal::opencl {

// An immutable table of function pointers, shared by everything that the driver makes. A test may
// pass the driver a table with its own functions.
struct Api {
#define TL_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  TL_OPENCL_FUNCTIONS(TL_OPENCL_MEMBER)
  TL_OPENCL_SHARING_FUNCTIONS(TL_OPENCL_MEMBER)
  TL_OPENCL_2_FUNCTIONS(TL_OPENCL_MEMBER)
#undef TL_OPENCL_MEMBER
};

// Opens the first of the libraries that exists. Unavailable, with advice on what to install, if
// none exists or if it lacks a function of version 1.2. The library stays loaded for the lifetime
// of the process: OpenCL implementations keep threads running, whose code must not be unloaded.
Result<std::shared_ptr<const Api>> load_api(std::span<const std::string> library_paths);

}  // namespace texloom::hal::opencl
