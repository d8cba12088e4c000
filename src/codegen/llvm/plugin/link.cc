#include <lld/Common/Driver.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>
#include <stdexcept>

#include "codegen/llvm/plugin/machine.h"

LLD_HAS_DRIVER(elf)

namespace texloom::codegen::native {

namespace {

// A folder that is removed with its files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    if (const std::error_code error = llvm::sys::fs::createUniqueDirectory("texloom", path_))
      throw std::runtime_error("cannot create a temporary folder: " + error.message());
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> path = path_;
    llvm::sys::path::append(path, name);
    return path.str().str();
  }

 private:
  llvm::SmallString<128> path_;
};

void write(const std::string& path, const std::string& bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
  }
  if (error) throw std::runtime_error("cannot write " + path + ": " + error.message());
}

}  // namespace

std::string shared_object_of(const std::string& object) {
  static std::mutex mutex;  // the linker has global state
  const std::lock_guard lock(mutex);
  const TemporaryFolder folder;
  const std::string input = folder.file("kernels.o"), output = folder.file("kernels.so");
  write(input, object);
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const lld::Result result = lld::lldMain({"ld.lld", "-shared", "--build-id=none", "-z",
                                           "noexecstack", "-o", output.c_str(), input.c_str()},
                                          stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) throw std::runtime_error("the linker failed: " + messages);
  const auto linked = llvm::MemoryBuffer::getFile(output);
  if (!linked) throw std::runtime_error("the linker wrote nothing: " + messages);
  return (*linked)->getBuffer().str();
}

}  // namespace texloom::codegen::native
