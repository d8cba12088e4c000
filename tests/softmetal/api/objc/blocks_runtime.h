// GNUstep's headers include this file if blocks are enabled; BlocksRuntime implements blocks.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void* _Block_copy(const void* block);
void _Block_release(const void* block);
#ifdef __cplusplus
}
#endif
