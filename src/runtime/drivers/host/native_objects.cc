#include "runtime/drivers/host/native_objects.h"

#include <dlfcn.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/drivers/host/native_kernel.h"
#include "support/processor/native_code.h"
#include "support/processor/processor.h"

namespace texloom::hal::host {

namespace {

// A shared object that the system has loaded.
class Library {
 public:
  explicit Library(void* handle) : handle_(handle) {}
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void* find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

 private:
  void* handle_;
};

// A file that exists while the system loads it.
class TemporaryFile {
 public:
  static Result<TemporaryFile> with(std::string_view bytes) {
    const char* folder = std::getenv("TMPDIR");
    std::string path = folder == nullptr || *folder == '\0' ? "/tmp" : folder;
    path += "/texloom-kernels-XXXXXX";
    TemporaryFile file;
    const int descriptor = mkstemp(path.data());
    if (descriptor < 0) return failed("create", path);
    file.path_ = path;
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        const Status problem = failed("write", path);
        close(descriptor);
        return problem;
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    close(descriptor);
    return file;
  }
  TemporaryFile(TemporaryFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  TemporaryFile() = default;
  static Status failed(const char* what, const std::string& path) {
    return make_error(StatusCode::BuildFailed,
                      "cannot {} {}: {}; help: make room there, or name another folder in TMPDIR",
                      what, path, std::strerror(errno));
  }

  std::string path_;
};

bool is_mounted_noexec(const std::string& path) {
#ifdef ST_NOEXEC
  struct statvfs folder = {};
  return statvfs(path.c_str(), &folder) == 0 && (folder.f_flag & ST_NOEXEC) != 0;
#else
  static_cast<void>(path);
  return false;
#endif
}

// Why the system does not load a file that was checked, and what to do.
Status not_loaded(const std::string& path) {
  const char* reason = dlerror();
  return make_error(
      StatusCode::BuildFailed, "the system cannot load native code: {}; help: {}",
      reason == nullptr ? path : reason,
      is_mounted_noexec(path)
          ? "the folder of temporary files is mounted without execution (noexec): name "
            "another one in TMPDIR"
          : "where no code may be loaded, a program can link the kernels: "
            "`texloom compile --emit=object,header,package`");
}

// Makes the functions that native code calls visible to it: those of C's mathematics, and
// conversions of float16 for processors without them. What is missing is an error when the code is
// loaded.
void open_libraries() {
  static const bool kDone = [] {
    for (const char* name : {"libm.so.6", "libgcc_s.so.1"}) dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    return true;
  }();
  static_cast<void>(kDone);
}

// Refuses code that this process cannot run, before any of it is in memory.
Status check_native_code(std::string_view code) {
  TL_ASSIGN_OR_RETURN(const NativeCode native, read_native_code(code));
  if (native.is_relocatable)
    return invalid_argument("the native code is an object file, which must be linked first");
  if (const std::string missing = missing_for(native); !missing.empty())
    return make_error(StatusCode::Unimplemented,
                      "the native code needs {}; help: compile it for this processor "
                      "(-mcpu=native), or for every one (no -mcpu)",
                      missing);
  const std::vector<std::string_view> features(native.features.begin(), native.features.end());
  if (enable_processor_features(features)) return {};
  return make_error(StatusCode::Unavailable,
                    "the native code needs the tile registers of AMX, which the system does not "
                    "give to this process");
}

class NativeLoader final : public KernelLoader {
 public:
  explicit NativeLoader(NativeLoaderOptions options) : options_(options) {}

  KernelFormat format() const override { return KernelFormat::NativeObject; }

  Result<std::vector<std::shared_ptr<const Kernel>>> load(
      std::string_view code, std::span<const EntryPoint> entries) const override {
    TL_RETURN_IF_ERROR(check_native_code(code));
    open_libraries();
    TL_ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::with(code));
    void* handle = dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return not_loaded(file.path());
    if (options_.keeps_files) file.keep();
    const auto library = std::make_shared<const Library>(handle);
    std::vector<std::shared_ptr<const Kernel>> kernels;
    for (const EntryPoint& entry : entries) {
      void* symbol = library->find(entry.name);
      if (symbol == nullptr)
        return make_error(StatusCode::NotFound, "the native code has no kernel \"{}\"", entry.name);
      kernels.push_back(
          make_native_kernel(reinterpret_cast<texloom_native_kernel*>(symbol), library));
    }
    return kernels;
  }

 private:
  NativeLoaderOptions options_;
};

}  // namespace

std::shared_ptr<const KernelLoader> make_native_loader(NativeLoaderOptions options) {
  return std::make_shared<NativeLoader>(options);
}

}  // namespace texloom::hal::host
