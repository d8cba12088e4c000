// The part of libdispatch that Metal's API and its drivers need: serial queues that run blocks, and
// data objects. dispatch_retain and dispatch_release count references.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dispatch_object_s* dispatch_object_t;
typedef struct dispatch_object_s* dispatch_queue_t;
typedef struct dispatch_object_s* dispatch_data_t;
typedef struct dispatch_object_s* dispatch_queue_attr_t;
typedef void (^dispatch_block_t)(void);

#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT ((dispatch_block_t)0)

// A queue runs its blocks sequentially on a separate thread.
dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t attributes);
void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_sync(dispatch_queue_t queue, dispatch_block_t block);

// Copies `size` bytes if the destructor is the default one; otherwise refers to the bytes, and runs
// the destructor when the data is released.
dispatch_data_t dispatch_data_create(const void* buffer, size_t size, dispatch_queue_t queue,
                                     dispatch_block_t destructor);
size_t dispatch_data_get_size(dispatch_data_t data);
// The bytes are valid as long as the returned object, which the caller must release.
dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void** buffer, size_t* size);

void dispatch_retain(dispatch_object_t object);
void dispatch_release(dispatch_object_t object);

#ifdef __cplusplus
}
#endif
