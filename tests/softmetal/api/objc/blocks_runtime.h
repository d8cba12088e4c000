// GNUstep's headers ask for this file when blocks are on; the runtime of blocks is BlocksRuntime.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void* _Block_copy(const void* block);
void _Block_release(const void* block);
#ifdef __cplusplus
}
#endif
