// softmetal-compile FILE.metal: compiles a Metal program for this machine and prints its errors.
#include <cstdio>
#include <string>

#include "tests/softmetal/compile/files.h"
#include "tests/softmetal/compile/metallib.h"
#include "tests/softmetal/programs/options.h"

namespace {

constexpr const char* kUsage =
    "Usage: softmetal-compile [OPTION...] FILE.metal\n"
    "\n"
    "Compiles a program of the Metal Shading Language. The exit status is 0 if it compiles; else\n"
    "the messages are on the standard error, and the status is 1.\n"
    "\n"
    "  -std=metalX.Y          the version of the language, 2.0 to 3.2 (default: 3.2)\n"
    "  -DNAME[=VALUE]         defines a macro\n"
    "  -IFOLDER               searches a folder for #include; that of FILE is searched as well\n"
    "  -fmetal-math-mode=M    safe (default), relaxed or fast\n"
    "  -o FILE.metallib       writes the compiled library, which softmetal's newLibraryWithData "
    "reads\n"
    "  --list                 prints the kernels and their arguments\n"
    "  --print                prints the program as clang takes it\n";

void list_kernels(const softmetal::Program& program) {
  for (const softmetal::Kernel& kernel : program.kernels) {
    std::printf("kernel %s\n", kernel.public_name.c_str());
    for (const softmetal::Parameter& p : kernel.parameters) {
      static constexpr const char* kKinds[] = {"buffer", "texture", "sampler", "threadgroup"};
      if (p.binding == softmetal::BindingKind::Builtin) {
        std::printf("  [[%s]] %s %s\n", p.builtin.c_str(), p.type.c_str(), p.name.c_str());
      } else if (p.binding) {
        std::printf("  [[%s(%d)]] %s %s\n", kKinds[static_cast<int>(*p.binding)], p.index,
                    p.type.c_str(), p.name.c_str());
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  softmetal::CompileOptions options;
  std::string file, output, problem;
  bool list = false, print = false;
  for (int i = 1; i < argc && problem.empty(); ++i) {
    const std::string argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      std::fputs(kUsage, stdout);
      return 0;
    }
    if (argument == "-o") {
      if (++i < argc) output = argv[i];
      if (output.empty()) problem = "-o takes the name of a file";
    } else if (argument == "--list") {
      list = true;
    } else if (argument == "--print") {
      print = true;
    } else if (softmetal::read_compile_option(argument, options, problem)) {
      continue;
    } else if (!argument.empty() && argument[0] == '-') {
      problem = "there is no option \"" + argument + "\"";
    } else if (!file.empty()) {
      problem = "one file is compiled at a time, not also \"" + argument + "\"";
    } else {
      file = argument;
    }
  }
  if (problem.empty() && file.empty()) problem = "which file is to be compiled?";
  std::string source;
  if (problem.empty()) softmetal::read_source(file, source, options, problem);
  if (!problem.empty()) {
    std::fprintf(stderr, "softmetal-compile: %s\n", problem.c_str());
    return 1;
  }
  const softmetal::CompiledLibrary library{source, options,
                                           softmetal::compile_source(source, options)};
  const softmetal::Compilation& result = library.compilation;
  std::fputs(result.log.c_str(), stderr);
  if (print) std::fputs(result.program.text.c_str(), stdout);
  if (list && result.ok) list_kernels(result.program);
  if (!result.ok) return 1;
  if (output.empty() || softmetal::write_file(output, softmetal::write_metallib(library))) return 0;
  std::fprintf(stderr, "softmetal-compile: cannot write \"%s\"\n", output.c_str());
  return 1;
}
