// MSL's keywords that C++ for OpenCL spells differently. This file comes first in the precompiled
// header. Its macros also apply to the program, whose own macros are expanded already.
//
// Address spaces. Each has its own space in clang, which therefore refuses wrong conversions:
//   constant     const __global: the only space in which clang allows variables of program scope
//   device       address space 0 of the target: a separate space to the language, but LLVM's flat
//                space, so that accesses can be instrumented
//   threadgroup  __local
//   thread       __private, the space of local variables
// Each converts to __generic, which is the space of `this` in methods of this library.
#pragma once

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION __cl_clang_bitfields : enable
// Enables functions as template arguments.
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

#define constant const __global
#define device __attribute__((address_space(0)))
#define threadgroup __local
#define thread __private

// Keywords of OpenCL that are plain names in MSL.
#define global __sm_name_global
#define local __sm_name_local
#define generic __sm_name_generic
#define pipe __sm_name_pipe
#define read_only __sm_name_read_only
#define write_only __sm_name_write_only
#define read_write __sm_name_read_write
#define vec_step __sm_name_vec_step
#define addrspace_cast __sm_name_addrspace_cast
#define event_t __sm_name_event_t
#define sampler_t __sm_name_sampler_t
#define queue_t __sm_name_queue_t
#define clk_event_t __sm_name_clk_event_t
#define reserve_id_t __sm_name_reserve_id_t

// Names of MSL programs that C++ for OpenCL, the language that clang compiles here, has as builtin
// functions. Programs may declare them, so they are renamed.
#define to_global __sm_name_to_global
#define to_local __sm_name_to_local
#define to_private __sm_name_to_private
#define read_pipe __sm_name_read_pipe
#define write_pipe __sm_name_write_pipe
#define reserve_read_pipe __sm_name_reserve_read_pipe
#define reserve_write_pipe __sm_name_reserve_write_pipe
#define commit_read_pipe __sm_name_commit_read_pipe
#define commit_write_pipe __sm_name_commit_write_pipe
#define get_pipe_num_packets __sm_name_get_pipe_num_packets
#define get_pipe_max_packets __sm_name_get_pipe_max_packets
#define enqueue_kernel __sm_name_enqueue_kernel
#define get_kernel_work_group_size __sm_name_get_kernel_work_group_size

// Types that C++ for OpenCL declares globally. They are renamed, so that a program with `using
// namespace metal` finds only the types of these names in atomic.h.
#define atomic_int __sm_atomic_int
#define atomic_uint __sm_atomic_uint
#define atomic_long __sm_atomic_long
#define atomic_ulong __sm_atomic_ulong
#define atomic_float __sm_atomic_float
#define atomic_double __sm_atomic_double
#define atomic_flag __sm_atomic_flag
#define atomic_size_t __sm_atomic_size_t

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __bf16 bfloat;

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;

namespace metal {
// Aliases, so that metal::uint and uint are one type.
typedef ::uchar uchar;
typedef ::ushort ushort;
typedef ::uint uint;
typedef ::ulong ulong;
typedef ::bfloat bfloat;
typedef ::int8_t int8_t;
typedef ::uint8_t uint8_t;
typedef ::int16_t int16_t;
typedef ::uint16_t uint16_t;
typedef ::int32_t int32_t;
typedef ::uint32_t uint32_t;
typedef ::int64_t int64_t;
typedef ::uint64_t uint64_t;
typedef ::size_t size_t;
typedef ::ptrdiff_t ptrdiff_t;
}  // namespace metal
