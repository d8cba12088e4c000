#include "tests/softmetal/compile/compiler.h"

#include <utility>

#include "tests/softmetal/compile/cache.h"
#include "tests/softmetal/compile/diagnostics.h"
#include "tests/softmetal/compile/files.h"
#include "tests/softmetal/compile/process.h"
#include "tests/softmetal/compile/recursion.h"
#include "tests/softmetal/compile/scratch_folder.h"
#include "tests/softmetal/source/pass.h"

namespace softmetal {
namespace {

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

// The preprocessor's line markers give the source this name.
constexpr const char* kFile = "source";
// The extension of files with the first half's code.
constexpr const char* kBitcode = ".bc";

std::string with_pragmas(const std::string& text, const CompileOptions& options) {
  const char* contract = options.math_mode == MathMode::Safe ? "off" : "fast";
  return std::string("#pragma clang fp contract(") + contract + ")\n" + text;
}

// Returns clang's command line for programs.
std::vector<std::string> program_command() {
  std::vector<std::string> command = clang_command();
  command.insert(command.end(), {"-include-pch", build_file("metal.pch")});
  return command;
}

// Compiles `text` to bitcode, which the cache stores.
std::vector<Message> make_bitcode(const std::string& text, const std::string& folder,
                                  IntermediateCode& code) {
  write_file(folder + "/program", text);
  std::vector<std::string> command = program_command();
  command.insert(command.end(), {"-emit-llvm", "-c", "program", "-o", "program.bc"});
  const ProcessResult compiled = run_process(command, folder);
  std::vector<Message> messages = read_clang_messages(compiled.errors, kFile);
  const std::string file = folder + "/program.bc";
  if (compiled.status != 0) {
    if (!has_errors(messages)) {
      messages.push_back({Message::Kind::Error, 0, "clang failed:\n" + compiled.errors});
    }
    return messages;
  }
  code.bitcode = read_file(file).value_or("");
  const std::string problem = put_in_cache(file, cached_path(code.key, kBitcode));
  if (!problem.empty()) messages.push_back({Message::Kind::Error, 0, problem});
  return messages;
}

void finish(Compilation& c, const std::string& source, const CompileOptions& options) {
  c.ok = !has_errors(c.messages);
  c.log = print_messages(c.messages, source, options.file);
}

Program pass_over(const std::string& preprocessed, const CompileOptions& options) {
  PassOptions pass;
  pass.file = kFile;
  pass.version = options.version;
  pass.constants = options.constants;
  return run_token_pass(preprocessed, pass);
}

// Runs the token pass and clang on the preprocessed source.
void compile_preprocessed(const CompileOptions& options, const std::string& folder,
                          Compilation& c) {
  c.program = pass_over(c.preprocessed, options);
  c.messages.insert(c.messages.end(), c.program.messages.begin(), c.program.messages.end());
  const std::string text = with_pragmas(c.program.text, options);
  c.code.key = code_key(text);
  if (auto bitcode = read_file(cached_path(c.code.key, kBitcode))) {
    c.code.bitcode = *std::move(bitcode);
  } else {
    // Clang runs even if the token pass found errors, so that one compilation reports all errors.
    std::vector<Message> more = make_bitcode(text, folder, c.code);
    if (!has_errors(c.messages) || has_errors(more)) {
      c.messages.insert(c.messages.end(), more.begin(), more.end());
    }
  }
  if (!has_errors(c.messages) && !c.program.recursion_candidates.empty()) {
    check_recursion(text, program_command(), c.program, folder, c.messages);
  }
}

Compilation without_folder() {
  Compilation c;
  c.messages.push_back({Message::Kind::Error, 0, "no temporary folder can be written"});
  return c;
}

}  // namespace

Compilation compile_source(const std::string& source, const CompileOptions& options) {
  Compilation c;
  const ScratchFolder scratch;
  if (scratch.path().empty() || !write_file(scratch.path() + "/source", source)) {
    c = without_folder();
    finish(c, source, options);
    return c;
  }
  ProcessResult preprocessed = run_process(preprocessor_command(options), scratch.path());
  c.messages = read_clang_messages(preprocessed.errors, kFile);
  if (preprocessed.status != 0 && !has_errors(c.messages)) {
    c.messages.push_back(
        {Message::Kind::Error, 0, "the preprocessor failed:\n" + preprocessed.errors});
  }
  if (!has_errors(c.messages)) {
    c.preprocessed = std::move(preprocessed.out);
    compile_preprocessed(options, scratch.path(), c);
  }
  finish(c, source, options);
  return c;
}

Compilation specialize(const std::string& preprocessed, const std::string& source,
                       const CompileOptions& options) {
  Compilation c;
  const ScratchFolder scratch;
  if (scratch.path().empty()) {
    c = without_folder();
  } else {
    c.preprocessed = preprocessed;
    compile_preprocessed(options, scratch.path(), c);
  }
  finish(c, source, options);
  return c;
}

Compilation restore(const std::string& preprocessed, const CompileOptions& options,
                    IntermediateCode code) {
  Compilation c;
  c.preprocessed = preprocessed;
  c.program = pass_over(preprocessed, options);
  c.code = std::move(code);
  c.ok = true;
  return c;
}

}  // namespace softmetal
