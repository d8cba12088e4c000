// The interface, for tests in the same process, of the layer that counts blocking OpenCL calls.
#pragma once

extern "C" {

// Counts from zero the blocking calls on threads where `refused` returns true.
__attribute__((visibility("default"))) void texloom_count_blocking_calls(bool (*refused)());
__attribute__((visibility("default"))) int texloom_blocking_calls();

}  // extern "C"
