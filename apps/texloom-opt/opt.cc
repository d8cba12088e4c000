#include "apps/texloom-opt/opt.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "codegen/opencl/legalize.h"
#include "codegen/opencl/print.h"
#include "ir/target.h"
#include "ir/verify.h"
#include "lower/pipeline.h"
#include "lower/text.h"

namespace texloom::opt {
namespace {

using ir::Stage;
using lower::Lowering;
using lower::Pass;

constexpr std::string_view kHelp = R"(usage: texloom-opt FILE [OPTION]...

Reads a program in the text form (docs/text_form.md), runs passes over it in the order given, and
prints it. FILE is - for standard input.

  --pass=NAME,...         the passes to run; none by default
  --print-after=NAME,...  print the program after these passes, or after all, on standard error
  --verify-each           check the rules of the IR after each pass, not only after the last
  --time-passes           print how long each pass took, on standard error
  --target=TARGET         for passes that ask for one: by default the program's own, which a
                          program of stage te names, or "opencl"
  --emit=opencl           print the OpenCL C of the kernels instead, which are legalised then
  --locations             print the source locations of statements
  --list-passes           print the passes, with the stages they lead from and to, and stop
  --help                  print this, and stop

exit codes: 0 all is well, 1 the input is wrong, 2 the command line is, 3 Texloom is
)";

void legalize(Lowering& lowering) {
  lowering.program = codegen::opencl::legalize(lowering.program);
}

// The pipeline, and what a backend does behind it.
std::vector<Pass> all_passes() {
  std::vector<Pass> passes(lower::pipeline().begin(), lower::pipeline().end());
  passes.push_back({"legalize", legalize, Stage::Kernels, Stage::Legalised,
                    "bring kernels into a form that OpenCL C can spell"});
  return passes;
}

struct UsageError {
  std::string message;
};

struct Options {
  std::string file;
  std::vector<Pass> passes;
  std::vector<std::string> print_after;
  std::optional<std::string> target;
  bool emit_opencl = false;
  bool verify_each = false, time_passes = false, list_passes = false, locations = false;
  bool help = false;
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

Pass find_pass(const std::string& name) {
  std::string known;
  for (const Pass& pass : all_passes()) {
    if (pass.name == name) return pass;
    known += (known.empty() ? "" : ", ") + std::string(pass.name);
  }
  throw UsageError{fmt::format("there is no pass '{}'; there are {}", name, known)};
}

Options parse_options(const std::vector<std::string>& arguments) {
  Options o;
  for (const std::string& argument : arguments) {
    const size_t equals = std::min(argument.find('='), argument.size());
    const std::string name = argument.substr(0, equals);
    const std::string value = argument.substr(std::min(equals + 1, argument.size()));
    if (argument == "-" || !argument.starts_with("-")) {
      if (!o.file.empty()) throw UsageError{fmt::format("a second file, '{}'", argument)};
      o.file = argument;
    } else if (name == "--pass" && equals < argument.size()) {
      for (const std::string& pass : split(value)) o.passes.push_back(find_pass(pass));
    } else if (name == "--print-after" && equals < argument.size()) {
      for (const std::string& pass : split(value)) {
        if (pass != "all") find_pass(pass);
        o.print_after.push_back(pass);
      }
    } else if (name == "--target" && equals < argument.size()) {
      o.target = value;
    } else if (argument == "--emit=opencl") {
      o.emit_opencl = true;
    } else if (argument == "--verify-each") {
      o.verify_each = true;
    } else if (argument == "--time-passes") {
      o.time_passes = true;
    } else if (argument == "--list-passes") {
      o.list_passes = true;
    } else if (argument == "--locations") {
      o.locations = true;
    } else if (argument == "--help") {
      o.help = true;
    } else {
      throw UsageError{fmt::format("there is no option '{}'", argument)};
    }
  }
  if (o.file.empty() && !o.help && !o.list_passes) {
    throw UsageError{"no file; - is standard input"};
  }
  return o;
}

std::string read(const std::string& file, std::istream& in) {
  if (file == "-") return {std::istreambuf_iterator<char>(in), {}};
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UsageError{fmt::format("cannot read '{}'", file)};
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Runner {
 public:
  Runner(const Options& options, std::ostream& out, std::ostream& err)
      : options_(options), out_(out), err_(err) {}

  int run(std::string_view text) {
    lowering_ = lower::parse_lowering(text, options_.file == "-" ? "<stdin>" : options_.file);
    if (options_.target) lowering_.target = ir::parse_target(*options_.target, {});
    for (const Pass& pass : options_.passes) {
      if (lowering_.program.stage != pass.in) {
        err_ << fmt::format("texloom-opt: pass {} reads stage {}, the program is at stage {}\n",
                            pass.name, to_string(pass.in), to_string(lowering_.program.stage));
        return kWrongInput;
      }
      timed(pass);
      if (options_.verify_each) verify();
      if (prints(pass)) err_ << fmt::format("// after {}\n{}", pass.name, text_of_program());
    }
    verify();
    if (!options_.emit_opencl) {
      out_ << text_of_program();
    } else if (lowering_.program.stage == Stage::Legalised) {
      for (const ir::Kernel& kernel : lowering_.program.kernels) {
        out_ << codegen::opencl::print(kernel).source;
      }
    } else {
      err_ << fmt::format(
          "texloom-opt: --emit=opencl takes stage legalised, the program is at {}\n",
          to_string(lowering_.program.stage));
      return kWrongInput;
    }
    if (options_.time_passes) print_times();
    return kOk;
  }

 private:
  void timed(const Pass& pass) {
    const auto begin = std::chrono::steady_clock::now();
    lower::run_pass(pass, lowering_);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    times_.push_back(took.count());
  }

  // Of stage te, check_schedule is a pass.
  void verify() const {
    if (lowering_.program.stage != Stage::Te) ir::verify(lowering_.program, &lowering_.target);
  }

  bool prints(const Pass& pass) const {
    return std::any_of(options_.print_after.begin(), options_.print_after.end(),
                       [&](const std::string& name) { return name == "all" || name == pass.name; });
  }

  std::string text_of_program() const {
    return to_string(lowering_, {.locations = options_.locations});
  }

  void print_times() const {
    double total = 0;
    err_ << fmt::format("{:>12}  pass\n", "ms");
    for (size_t i = 0; i < times_.size(); ++i) {
      err_ << fmt::format("{:>12.3f}  {}\n", times_[i], options_.passes[i].name);
      total += times_[i];
    }
    err_ << fmt::format("{:>12.3f}  total\n", total);
  }

  const Options& options_;
  std::ostream& out_;
  std::ostream& err_;
  Lowering lowering_;
  std::vector<double> times_;
};

void list_passes(std::ostream& out) {
  for (const Pass& pass : all_passes()) {
    out << fmt::format("{:<18}{:<11}-> {:<11}{}\n", pass.name, to_string(pass.in),
                       to_string(pass.out), pass.summary);
  }
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
        std::ostream& err) {
  try {
    const Options options = parse_options(arguments);
    if (options.help) out << kHelp;
    if (options.list_passes) list_passes(out);
    if (options.help || options.list_passes) return kOk;
    return Runner(options, out, err).run(read(options.file, in));
  } catch (const UsageError& error) {
    err << "texloom-opt: " << error.message << "\n" << "texloom-opt --help lists the options\n";
    return kUsage;
  } catch (const UserError& error) {
    err << error.what() << "\n";
    return kWrongInput;
  } catch (const std::exception& error) {
    err << error.what() << "\n";
    return kBug;
  }
}

}  // namespace texloom::opt
