#include "apps/texloom-compile/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "apps/command_line/command_line.h"
#include "compile/compile.h"
#include "compile/native/static_kernels.h"
#include "compile/package.h"
#include "ir/text/lexer.h"
#include "runtime/executor/load_graph.h"
#include "runtime/package/add_variants.h"
#include "runtime/package/package_writer.h"
#include "support/diagnostic.h"

namespace texloom::compile_command {

using namespace command_line;

namespace {

constexpr std::string_view kHelp = R"(usage: texloom-compile FILE [OPTION]...

Compiles a program in the text form (docs/text_form.md), a schedule or a lowered program, and writes
its launch plan, as comments, and the source of each kernel; or a package (docs/packages.md), which
the runtime loads. FILE is - for standard input.

  --target=TARGET  compile for this target, such as "opencl -device=adreno"; by default the
                   target that a program at stage te names, or "opencl". Given several times, it
                   makes a package for all of them: a device gets the first that it can run
  -o FILE          write to this file, a package if its name ends in .tlp; by default, and for -,
                   write the source to standard output
  --emit=object,header,package  for a target llvm: write an object file, which -o FILE.o names,
                   that a program links, and, beside it, a C header and the package without code;
                   a part that is left out is not written (docs/cpu.md)
  --checked        make kernels test their indices; only for a program at stage te
  --verify-each    check the rules of the IR after each pass, not only after the last
  --help           print this, and stop

exit codes: 0 success, 1 an error in the input, 2 in the command line, 3 in Texloom itself
)";

struct Options {
  std::string input, output = "-";
  std::vector<std::string> targets;
  std::vector<std::string> parts;  // those of an object file that are written
  bool checked = false, verify_each = false, help = false;
};

std::vector<std::string> parse_parts(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream words(list);
  for (std::string part; std::getline(words, part, ',');) {
    if (part != "object" && part != "header" && part != "package")
      throw UsageError{fmt::format("--emit takes object, header and package, not '{}'", part)};
    parts.push_back(part);
  }
  if (std::ranges::find(parts, "object") == parts.end())
    throw UsageError{"--emit is for object files: --emit=object,header,package"};
  return parts;
}

Options parse_options(const std::vector<std::string>& arguments) {
  constexpr std::string_view kTarget = "--target=", kEmit = "--emit=";
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help") {
      options.help = true;
    } else if (argument == "--checked") {
      options.checked = true;
    } else if (argument.starts_with(kEmit)) {
      options.parts = parse_parts(argument.substr(kEmit.size()));
    } else if (argument == "--verify-each") {
      options.verify_each = true;
    } else if (argument.starts_with(kTarget)) {
      options.targets.push_back(argument.substr(kTarget.size()));
    } else if (argument == "-o") {
      if (++i == arguments.size()) throw UsageError{"-o takes the name of a file"};
      options.output = arguments[i];
    } else if (argument.starts_with("-") && argument != "-") {
      throw UsageError{fmt::format("unknown option '{}'", argument)};
    } else if (!options.input.empty()) {
      throw UsageError{fmt::format("one file is compiled, but '{}' and '{}' are given",
                                   options.input, argument)};
    } else {
      options.input = argument;
    }
  }
  if (options.input.empty() && !options.help) throw UsageError{"no file is given"};
  return options;
}

// The program compiled for each of the targets, or for the target that it names.
std::vector<compile::CompiledModule> compiled(const Options& options, std::istream& in) {
  const std::string text = read_text(options.input, in);
  std::vector<std::optional<std::string>> targets(options.targets.begin(), options.targets.end());
  if (targets.empty()) targets.emplace_back();
  std::vector<compile::CompiledModule> modules;
  for (const auto& target : targets) {
    const compile::SourceProgram program{
        std::make_shared<const lower::Lowering>(parse_program(text, options.input, target))};
    modules.push_back(compile::compile(
        program, {.checked = options.checked, .verify_each = options.verify_each}));
  }
  return modules;
}

// The start of the program's text, up to the kernels, is its launch plan.
std::string listing(const compile::CompiledModule& module) {
  std::string text = fmt::format("// target {}\n", to_string(module.target));
  std::istringstream lines(to_string(module.program));
  for (std::string line; std::getline(lines, line) && !line.empty();) text += "// " + line + "\n";
  for (size_t i = 0; i < module.kernels.size(); ++i) {
    const compile::CompiledKernel& kernel = module.kernels[i];
    text += fmt::format("\n// kernel {}, function {}\n{}",
                        ir::spell_name(module.program.kernels[i].name), kernel.name,
                        kernel.code->listing());
  }
  return text;
}

void throw_if_not_written(const Status& status) {
  if (status.code() == StatusCode::Unavailable) throw UsageError{status.message()};
  if (!status.ok()) compile::refuse_module_file(status.message(), {});
}

// Writes the object file, the header and the package, as far as they are among `parts`.
void write_object(const compile::CompiledModule& module, const std::string& file,
                  const std::vector<std::string>& parts, std::ostream& out) {
  const std::filesystem::path path(file);
  const compile::StaticKernels made = compile::static_kernels(
      compile::package_of(module, {}), compile::objects_of(module), path.stem().string(), {});
  const auto beside = [&](const char* suffix) {
    return std::filesystem::path(path).replace_extension(suffix).string();
  };
  const auto has = [&](const char* part) { return std::ranges::find(parts, part) != parts.end(); };
  write_text(file, made.object, out);
  if (has("header")) write_text(beside(".h"), made.header, out);
  if (has("package")) throw_if_not_written(runtime::write_package(made.package, beside(".tlp")));
}

bool is_package(const std::string& file) { return file.ends_with(".tlp"); }

void write_package(const std::vector<compile::CompiledModule>& modules, const std::string& file,
                   std::ostream& err) {
  runtime::Package package = compile::package_of(modules.front(), {});
  for (size_t i = 1; i < modules.size(); ++i) {
    const Status added = runtime::add_variants(package, compile::package_of(modules[i], {}));
    if (!added.ok()) throw UsageError{added.message()};
  }
  for (const std::string& problem : runtime::shadowed_variants(package)) {
    err << render({Severity::Warning,
                   Code::BadOption,
                   {},
                   problem,
                   "give the targets that need most first, or leave one of the two out",
                   {}})
        << "\n";
  }
  throw_if_not_written(runtime::write_package(package, file));
}

void compile_file(const Options& options, std::istream& in, std::ostream& out, std::ostream& err) {
  if (options.targets.size() > 1 && !is_package(options.output))
    throw UsageError{"only a package is for several targets: -o FILE.tlp"};
  if (options.parts.empty() == options.output.ends_with(".o"))
    throw UsageError{"--emit=object,header,package and -o FILE.o belong together"};
  const std::vector<compile::CompiledModule> modules = compiled(options, in);
  for (const compile::CompiledModule& module : modules) {
    for (const Diagnostic& warning : module.warnings) err << render(warning) << "\n";
  }
  if (!options.parts.empty()) {
    write_object(modules.front(), options.output, options.parts, out);
  } else if (is_package(options.output)) {
    write_package(modules, options.output, err);
  } else {
    write_text(options.output, listing(modules.front()), out);
  }
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
        std::ostream& err) {
  const auto run_command = [&] {
    const Options options = parse_options(arguments);
    if (options.help) {
      out << kHelp;
    } else {
      compile_file(options, in, out, err);
    }
    return kOk;
  };
  return report_errors("texloom-compile", run_command, out, err);
}

}  // namespace texloom::compile_command
