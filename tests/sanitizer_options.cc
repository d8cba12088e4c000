// Linked into the C++ tests when they are built with sanitizers.

extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions();
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options();
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options();

// What PoCL and its LLVM, which we open at run time, still hold when the process ends is not ours
// to free.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libclang-cpp\nleak:libOpenCL\n";
}

// Requests for more memory than there is are refused, as without sanitizers.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

// A process that ends leaves threads of queues and of drivers. Reports end the program, so that it
// is known what ran.
extern "C" const char* __tsan_default_options() {
  return "report_thread_leaks=0:halt_on_error=1:second_deadlock_stack=1";
}
