/* The C API of Texloom's runtime: loads a graph from a package and runs it. C11 and C++.
 *
 *     texloom_device* device;
 *     texloom_graph* graph;
 *     texloom_executor* executor;
 *     texloom_error* error = texloom_device_open("opencl", &device);
 *     if (!error) error = texloom_graph_load(device, "net.tlp", &graph);
 *     if (!error) error = texloom_executor_create(graph, &executor);
 *     if (!error) error = texloom_set_input(executor, 0, pixels, sizeof pixels);
 *     if (!error) error = texloom_run(executor);
 *     if (!error) error = texloom_get_output(executor, 0, scores, sizeof scores);
 *
 * Errors: functions return null, or an error that the caller frees with texloom_error_free(); after
 * an error the variables for results are left alone. If the host has no memory left, the error is
 * TEXLOOM_OUT_OF_MEMORY. Functions throw no C++ exceptions.
 *
 * Ownership: each handle is freed by the function named after its kind, which also accepts null. A
 * handle keeps the objects alive that it needs, so handles may be freed in any order. Texts live as
 * long as the handle that they come from.
 *
 * Threads: devices and graphs may be shared. An executor is used by one thread at a time; threads
 * that run the same graph have an executor each, which share kernels and constants.
 *
 * Arrays are row-major and contiguous. */
#ifndef TEXLOOM_RUNTIME_C_API_TEXLOOM_H_
#define TEXLOOM_RUNTIME_C_API_TEXLOOM_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/drivers/host/linked_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct texloom_error texloom_error;
typedef struct texloom_device texloom_device;
typedef struct texloom_graph texloom_graph;
typedef struct texloom_executor texloom_executor;
typedef struct texloom_buffer texloom_buffer;
typedef struct texloom_texture texloom_texture;

typedef enum texloom_code {
  TEXLOOM_OK = 0,
  TEXLOOM_INVALID_ARGUMENT = 1, /* the caller broke a rule; nothing was done */
  TEXLOOM_NOT_FOUND = 2,
  TEXLOOM_UNAVAILABLE = 3,    /* a loader, a driver, a device or a file is missing */
  TEXLOOM_LIMIT_EXCEEDED = 4, /* the request is too large; nothing was done */
  TEXLOOM_OUT_OF_MEMORY = 5,
  TEXLOOM_BUILD_FAILED = 6, /* the device's compiler refused a kernel; the message has its log */
  TEXLOOM_DEADLINE_EXCEEDED = 7,
  TEXLOOM_CANCELLED = 8,
  TEXLOOM_DEVICE_ERROR = 9,   /* a driver call failed, now or earlier in asynchronous work */
  TEXLOOM_UNIMPLEMENTED = 10, /* this driver or this device cannot do it */
  TEXLOOM_INTERNAL = 11       /* a broken invariant of Texloom itself, or an exception */
} texloom_code;

/* The code and the message of an error; TEXLOOM_OK and "" for null. */
texloom_code texloom_error_code(const texloom_error* error);
const char* texloom_error_message(const texloom_error* error);
void texloom_error_free(texloom_error* error);

/* Opens a device: "opencl" or "metal" (the first one), "opencl:<number>" or "opencl:<id>"; "host",
 * the processor, for packages with native code. */
texloom_error* texloom_device_open(const char* path, texloom_device** device);
/* Open a device over objects of the application, so that both use the same memory and, unless
 * `queue` is null, the same queue. OpenCL: `context` is a cl_context, `device_id` a cl_device_id of
 * it, or null for the queue's device or the context's only one, and `queue` a cl_command_queue that
 * is in order. Metal: an id<MTLDevice> and an id<MTLCommandQueue>.
 *
 * The device retains the objects that it uses, so the application may release its own references.
 * Without a queue, the device makes its own, and the application waits between its commands and
 * texloom_run(). TEXLOOM_INVALID_ARGUMENT for objects that do not belong together, or a queue whose
 * commands are not in order; TEXLOOM_NOT_FOUND if there is no such driver or device. */
texloom_error* texloom_device_open_opencl(void* context, void* device_id, void* queue,
                                          texloom_device** device);
texloom_error* texloom_device_open_metal(void* metal_device, void* queue, texloom_device** device);
/* Opens the processor for packages whose kernels the program links: each of `libraries` is declared
 * by the header beside an object file (docs/cpu.md, "Ahead of time"). They live as long as the
 * device and its graphs. No code is loaded at run time. */
texloom_error* texloom_device_open_linked(const texloom_linked_kernels* const* libraries,
                                          size_t count, texloom_device** device);
const char* texloom_device_name(const texloom_device* device);
void texloom_device_free(texloom_device* device);

/* Loads a package's graph: the first variant that the device can run. Compiles its kernels.
 * TEXLOOM_UNIMPLEMENTED for a graph with custom operators, which C cannot provide. */
texloom_error* texloom_graph_load(texloom_device* device, const char* file, texloom_graph** graph);
/* Like texloom_graph_load(), and takes native code, which variants for the target "llvm" have. It
 * runs in the process with all of its rights: only for files that are trusted as programs are. The
 * device "host" runs it; nothing is compiled, and no LLVM is needed. TEXLOOM_UNIMPLEMENTED, naming
 * what it lacks, if the processor cannot run the code of any variant. */
texloom_error* texloom_graph_load_native(texloom_device* device, const char* file,
                                         texloom_graph** graph);
void texloom_graph_free(texloom_graph* graph);
size_t texloom_graph_input_count(const texloom_graph* graph);
size_t texloom_graph_output_count(const texloom_graph* graph);
/* Null for a number beyond the last one. */
const char* texloom_graph_input_name(const texloom_graph* graph, uint32_t input);
const char* texloom_graph_output_name(const texloom_graph* graph, uint32_t output);

texloom_error* texloom_executor_create(texloom_graph* graph, texloom_executor** executor);
void texloom_executor_free(texloom_executor* executor);
texloom_error* texloom_find_input(const texloom_executor* executor, const char* name,
                                  uint32_t* input);
texloom_error* texloom_find_output(const texloom_executor* executor, const char* name,
                                   uint32_t* output);
texloom_error* texloom_find_scalar(const texloom_executor* executor, const char* name,
                                   uint32_t* scalar);

/* Set a scalar of the graph; each scalar must be set before the first run. The first function is
 * for scalars of integer types, the second for floating-point types; TEXLOOM_INVALID_ARGUMENT for a
 * scalar of the other kind, and for a value beyond the scalar's type. */
texloom_error* texloom_set_scalar_i64(texloom_executor* executor, uint32_t scalar, int64_t value);
texloom_error* texloom_set_scalar_f64(texloom_executor* executor, uint32_t scalar, double value);

/* Sets the shape of an input whose shape depends on the call. Must come before the input's
 * elements. At most 32 axes. TEXLOOM_INVALID_ARGUMENT for a shape that is not the input's, also in
 * its fixed extents, and for one without elements. */
texloom_error* texloom_set_shape(texloom_executor* executor, uint32_t input, const int64_t* extents,
                                 size_t axes);
/* Copies an array; does not wait. */
texloom_error* texloom_set_input(texloom_executor* executor, uint32_t input, const void* array,
                                 size_t bytes);
/* Uses the buffer's bytes from the offset on, in the tensor's layout, at each run. */
texloom_error* texloom_bind_input(texloom_executor* executor, uint32_t input,
                                  texloom_buffer* buffer, uint64_t offset);
texloom_error* texloom_bind_output(texloom_executor* executor, uint32_t output,
                                   texloom_buffer* buffer, uint64_t offset);
/* Use the texture from the texel (x, y) on, for a tensor whose layout is that of a texture. */
texloom_error* texloom_bind_input_texture(texloom_executor* executor, uint32_t input,
                                          texloom_texture* texture, uint32_t x, uint32_t y);
texloom_error* texloom_bind_output_texture(texloom_executor* executor, uint32_t output,
                                           texloom_texture* texture, uint32_t x, uint32_t y);

/* Runs the graph and waits. */
texloom_error* texloom_run(texloom_executor* executor);
/* Runs the graph without waiting: texloom_get_output() waits. On a device over the application's
 * queue, the commands are in that queue when the function returns. */
texloom_error* texloom_submit(texloom_executor* executor);

/* The shape of an output. `extents` receives its axes, if there is room for them, and `axes` their
 * number. Unknown before the first run if it depends on the call. */
texloom_error* texloom_output_shape(const texloom_executor* executor, uint32_t output,
                                    int64_t* extents, size_t room, size_t* axes);
/* The bytes of an output's array. */
texloom_error* texloom_output_bytes(const texloom_executor* executor, uint32_t output,
                                    size_t* bytes);
/* Copies an output of the latest run into an array, when earlier work is complete.
 * TEXLOOM_INVALID_ARGUMENT if that run was refused or failed: then there are no values. */
texloom_error* texloom_get_output(texloom_executor* executor, uint32_t output, void* array,
                                  size_t bytes);

/* Memory of a device, for bind_input and bind_output. Its contents are initially undefined. */
texloom_error* texloom_buffer_create(texloom_device* device, uint64_t bytes,
                                     texloom_buffer** buffer);
/* Both functions wait for the device. */
texloom_error* texloom_buffer_write(texloom_buffer* buffer, uint64_t offset, const void* data,
                                    size_t bytes);
texloom_error* texloom_buffer_read(texloom_buffer* buffer, uint64_t offset, void* data,
                                   size_t bytes);
void texloom_buffer_free(texloom_buffer* buffer);

/* Make a buffer or a texture of the application's own memory, without a copy: a cl_mem of the
 * context with which the device was opened, or an id<MTLBuffer> or id<MTLTexture> of its
 * id<MTLDevice>. An image is 2-D, with RGBA texels, one level and one sample. The result retains
 * the memory. TEXLOOM_INVALID_ARGUMENT for an object that the device cannot use; later, for a use
 * for which the application did not make it (CL_MEM_READ_ONLY, CL_MEM_HOST_NO_ACCESS, ...). */
texloom_error* texloom_buffer_wrap(texloom_device* device, void* memory, texloom_buffer** buffer);
texloom_error* texloom_texture_wrap(texloom_device* device, void* image, texloom_texture** texture);
void texloom_texture_free(texloom_texture* texture);

#ifdef __cplusplus
}
#endif

#endif /* TEXLOOM_RUNTIME_C_API_TEXLOOM_H_ */
