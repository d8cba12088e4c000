#include "tests/softmetal/compile/compiler.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tests/softmetal/compile/diagnostics.h"
#include "tests/softmetal/compile/process.h"
#include "tests/softmetal/compile/recursion.h"
#include "tests/softmetal/source/pass.h"

namespace softmetal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCachedModules = 4000;

// A folder for the files of one compilation.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "softmetal-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string build_file(const char* name) { return std::string(SOFTMETAL_FOLDER) + "/" + name; }

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  return out.good();
}

std::vector<std::string> preprocessor_command(const CompileOptions& options) {
  std::vector<std::string> command = {SOFTMETAL_CLANG,
                                      "-E",
                                      "-x",
                                      "c++",
                                      "-std=c++14",
                                      "-undef",
                                      "-nostdinc",
                                      "-fno-color-diagnostics",
                                      "-fno-caret-diagnostics",
                                      "-fno-show-column",
                                      "-Wno-pragma-once-outside-header",
                                      std::string("-isystem") + SOFTMETAL_INCLUDE};
  for (const std::string& folder : options.include_folders) command.push_back("-I" + folder);
  const std::string version = std::to_string(options.version);
  command.push_back("-D__METAL_VERSION__=" + version);
  command.insert(command.end(), {"-D__METAL__=1", "-D__METAL_MACOS__=1", "-D__HAVE_BFLOAT__=1"});
  if (options.version < 310) command.pop_back();
  if (options.math_mode != MathMode::Safe) command.push_back("-D__FAST_MATH__=1");
  for (const auto& [name, value] : options.macros) command.push_back("-D" + name + "=" + value);
  command.push_back("source");
  return command;
}

// The line markers of the preprocessor name the file "source".
constexpr const char* kFile = "source";

std::string with_pragmas(const std::string& text, const CompileOptions& options) {
  const char* contract = options.math_mode == MathMode::Safe ? "off" : "fast";
  return std::string("#pragma clang fp contract(") + contract + ")\n" + text;
}

std::vector<std::string> clang_command() {
  std::vector<std::string> command;
  std::ifstream flags(build_file("flags"));  // one in each line, as the header was precompiled
  for (std::string flag; std::getline(flags, flag);) command.push_back(flag);
  command.insert(command.end(), {"-include-pch", build_file("metal.pch")});
  return command;
}

// What a module is made from, apart from its text.
const std::string& toolchain_key() {
  static const std::string kKey = [] {
    std::string key;
    for (const char* name : {"metal.pch", "runtime.o", "flags"}) {
      std::error_code missing;
      const auto time = fs::last_write_time(build_file(name), missing);
      key += std::to_string(time.time_since_epoch().count()) + "/";
    }
    return key;
  }();
  return kKey;
}

std::string cached_path(const std::string& text) {
  const std::string all = toolchain_key() + text;
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  char name[48];
  std::snprintf(name, sizeof name, "/%016llx%016llx.so",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return build_file("cache") + name;
}

// Removes the oldest half of too many modules. Others may do the same at a time.
void limit_cache() {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(build_file("cache"), ignored)) {
    files.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  if (files.size() < kCachedModules) return;
  std::sort(files.begin(), files.end());
  for (size_t i = 0; i < files.size() / 2; ++i) fs::remove(files[i].second, ignored);
}

// Compiles `text` to the module at `path`; its messages are stored beside it.
std::vector<Message> make_module(const std::string& text, const std::string& folder,
                                 const std::string& path) {
  write_file(folder + "/program", text);
  std::vector<std::string> command = clang_command();
  command.insert(command.end(), {"-c", "program", "-o", "program.o"});
  const ProcessResult compiled = run_process(command, folder);
  std::vector<Message> messages = read_clang_messages(compiled.errors, kFile);
  if (compiled.status != 0) {
    if (!has_errors(messages)) {
      messages.push_back({Message::Kind::Error, 0, "clang failed:\n" + compiled.errors});
    }
    return messages;
  }
  const ProcessResult linked =
      run_process({SOFTMETAL_CLANG, "-shared", "-o", "program.so", "program.o",
                   build_file("runtime.o"), "-Wl,-Bsymbolic,--strip-all,--no-undefined", "-lm"},
                  folder);
  if (linked.status != 0) {
    messages.push_back({Message::Kind::Error, 0, "linking failed: " + linked.errors});
    return messages;
  }
  std::error_code failed;
  fs::create_directories(build_file("cache"), failed);
  static std::atomic<int> count = 0;
  const std::string fresh = path + "." + std::to_string(::getpid()) + "." + std::to_string(++count);
  fs::copy_file(folder + "/program.so", fresh, failed);
  if (!failed) fs::rename(fresh, path, failed);
  if (failed)
    messages.push_back({Message::Kind::Error, 0, "cannot write " + path + ": " + failed.message()});
  if (count % 64 == 1) limit_cache();
  return messages;
}

void finish(Compilation& c, const std::string& source, const CompileOptions& options) {
  c.ok = !has_errors(c.messages);
  c.log = print_messages(c.messages, source, options.file);
}

}  // namespace

Compilation compile_source(const std::string& source, const CompileOptions& options) {
  Compilation c;
  const ScratchFolder scratch;
  if (scratch.path().empty() || !write_file(scratch.path() + "/source", source)) {
    c.messages.push_back({Message::Kind::Error, 0, "no temporary folder can be written"});
    finish(c, source, options);
    return c;
  }
  const ProcessResult preprocessed = run_process(preprocessor_command(options), scratch.path());
  c.messages = read_clang_messages(preprocessed.errors, kFile);
  if (preprocessed.status != 0 && !has_errors(c.messages)) {
    c.messages.push_back(
        {Message::Kind::Error, 0, "the preprocessor failed:\n" + preprocessed.errors});
  }
  if (has_errors(c.messages)) {
    finish(c, source, options);
    return c;
  }
  PassOptions pass;
  pass.file = kFile;
  pass.version = options.version;
  pass.constants = options.constants;
  c.program = run_token_pass(preprocessed.out, pass);
  c.messages.insert(c.messages.end(), c.program.messages.begin(), c.program.messages.end());
  const std::string text = with_pragmas(c.program.text, options);
  c.module = cached_path(text);
  if (!fs::exists(c.module)) {
    // What the token pass refuses is shown to clang as well, so that one run reports all.
    std::vector<Message> more = make_module(text, scratch.path(), c.module);
    if (!has_errors(c.messages) || has_errors(more)) {
      c.messages.insert(c.messages.end(), more.begin(), more.end());
    }
  }
  if (!has_errors(c.messages) && !c.program.recursion_candidates.empty()) {
    check_recursion(text, clang_command(), c.program, scratch.path(), c.messages);
  }
  finish(c, source, options);
  return c;
}

}  // namespace softmetal
