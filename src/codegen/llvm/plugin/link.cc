#include <lld/Common/Driver.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/llvm/plugin/machine.h"

LLD_HAS_DRIVER(elf)

namespace texloom::codegen::native {

namespace {

constexpr const char* kHelp = "make room there, or name another folder in TMPDIR";

// A folder that is removed with its files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    if (const std::error_code error = llvm::sys::fs::createUniqueDirectory("texloom", path_))
      throw Refusal("cannot create a temporary folder: " + error.message(), kHelp);
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

void write(const std::string& path, std::string_view bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();  // the stream ends the process otherwise
  }
  if (error) throw Refusal("cannot write " + path + ": " + error.message(), kHelp);
}

}  // namespace

std::string linked(std::span<const std::string_view> objects, texloom_llvm_linked kind) {
  static std::mutex mutex;  // the linker has global state
  const std::lock_guard lock(mutex);
  const TemporaryFolder folder;
  // With threads, LLVM waits for them when a process exits, forever in a forked one.
  std::vector<std::string> words = {"ld.lld",         "--threads=1", "--build-id=none",
                                    "--eh-frame-hdr", "-z",          "noexecstack"};
  words.emplace_back(kind == TEXLOOM_LLVM_SHARED ? "-shared" : "-r");
  words.insert(words.end(), {"-o", folder.file("linked")});
  for (size_t i = 0; i < objects.size(); ++i) {
    words.push_back(folder.file(std::to_string(i) + ".o"));
    write(words.back(), objects[i]);
  }
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) throw std::runtime_error("the linker failed: " + messages);
  const auto file = llvm::MemoryBuffer::getFile(folder.file("linked"));
  if (!file) throw std::runtime_error("the linker wrote nothing: " + messages);
  return (*file)->getBuffer().str();
}

}  // namespace texloom::codegen::native
