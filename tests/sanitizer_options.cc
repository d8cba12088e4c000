// Linked into the C++ tests when they are built with sanitizers.

extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions();
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options();

// Suppresses leaks of PoCL and its LLVM, which are loaded at run time and do not free all memory.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl\nleak:libLLVM\nleak:libclang-cpp\nleak:libOpenCL\n";
}

// Allocations that are too large fail, as without sanitizers, instead of ending the process.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

// Threads of queues and drivers may outlive main(), which is no leak. A report ends the program, so
// that it is clear which test caused it.
extern "C" const char* __tsan_default_options() {
  return "report_thread_leaks=0:halt_on_error=1:second_deadlock_stack=1:allocator_may_return_null="
         "1";
}
