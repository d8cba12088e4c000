// Linked into the C++ tests when they are built with sanitizers: what PoCL and its LLVM, which we
// open at run time, still hold when the process ends is not ours to free.

extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions();

extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libclang-cpp\nleak:libOpenCL\n";
}
