// What the layer that counts blocking calls of OpenCL has for the tests of its process.
#pragma once

extern "C" {

// Counts from zero the blocking calls on threads where `refused` returns true.
__attribute__((visibility("default"))) void texloom_count_blocking_calls(bool (*refused)());
__attribute__((visibility("default"))) int texloom_blocking_calls();

}  // extern "C"
