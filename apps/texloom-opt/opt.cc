#include "apps/texloom-opt/opt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "apps/command_line/command_line.h"
#include "apps/texloom-opt/findings.h"
#include "apps/texloom-opt/interpretation.h"
#include "apps/texloom-opt/options.h"
#include "codegen/backend.h"
#include "codegen/legalize/verify_dialect.h"
#include "graph/passes/passes.h"
#include "graph/text/text.h"
#include "ir/target/target.h"
#include "lower/pipeline.h"
#include "lower/te_text.h"
#include "support/check.h"
#include "validation/unscheduled.h"

namespace texloom::opt {

using namespace command_line;

namespace {

constexpr std::string_view kDivider = "// -----";

// Splits the file at the dividing lines. Each text is preceded by empty lines, so that its line
// numbers are those of the file; this takes time quadratic in the number of texts.
constexpr size_t kMaxPrograms = 1000;

std::vector<std::string> split_input(const std::string& text) {
  std::vector<std::string> parts(1);
  size_t line = 0;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view each = std::string_view(text).substr(begin, end - begin);
    if (each.starts_with(kDivider)) {
      if (parts.size() == kMaxPrograms) {
        throw UsageError{fmt::format("the file contains more than {} programs", kMaxPrograms)};
      }
      parts.emplace_back(line + 1, '\n');
    } else {
      parts.back() += each;
    }
    begin = end;
  }
  return parts;
}

// Processes one program.
class Runner {
 public:
  Runner(const Options& options, std::string text, std::ostream& out, std::ostream& err)
      : options_(options),
        text_(std::move(text)),
        file_(shown_name(options.file)),
        out_(out),
        err_(err) {}

  ExitCode run() {
    try {
      if (const ExitCode code = run_passes(); code != kOk) return code;
    } catch (const UserError& error) {
      for (const Diagnostic& d : error.diagnostics()) findings_.push_back(finding_of(d));
    }
    for (const Diagnostic& d : lowering_.warnings) findings_.push_back(finding_of(d));
    return options_.verify_diagnostics ? compare() : tell();
  }

 private:
  ExitCode show_graph() {
    if (!options_.passes.empty() || options_.emit || options_.interpret) {
      err_ << "texloom-opt: a graph takes only passes over graphs; run others on the programs "
              "below it, each in a file of its own\n";
      return kWrongInput;
    }
    graph::Graph graph = graph::parse_graph(text_, file_);
    // Without schedules nothing can be estimated: all kernels exist, and count as faster.
    const graph::KernelLibrary kernels = {
        .is_faster_joined = [](const auto&, const auto&, std::size_t) { return true; },
        .attention = [](const auto&, const auto&) { return graph::SharedComputation(); }};
    graph::run_graph_passes(graph, options_.graph_passes, {}, kernels);
    out_ << graph::to_string(graph);
    return kOk;
  }

  ExitCode run_passes() {
    if (graph::is_graph_text(text_)) return show_graph();
    lowering_ = parse_program(text_, options_.file, options_.target, !options_.interpret);
    if (!options_.graph_passes.empty()) {
      err_ << fmt::format("texloom-opt: pass {} needs a graph, but the program is at stage {}\n",
                          options_.graph_passes.front(), to_string(lowering_.program.stage));
      return kWrongInput;
    }
    passes_ = passes_of(options_.passes, lowering_.target.kind);
    if (const ExitCode code = check_stages(); code != kOk) return code;
    lowering_.verify_each = options_.verify_each;
    const auto print = [this](const lower::Pass& pass, const lower::Lowering&) {
      if (prints(pass)) err_ << fmt::format("// after {}\n{}", pass.name, text_of_program());
    };
    const ir::ProgramStage begin = lowering_.program.stage;
    try {
      lower::run_passes(passes_, lowering_, print, &times_);
    } catch (const std::logic_error& error) {
      if (is_run_of_pipeline(passes_, begin, lowering_.target.kind)) throw;
      throw InternalError(fmt::format(
          "{}\nnote: the pipeline runs other passes before these, or between them; it is a bug if "
          "this happens with all passes from stage {} on (--list-passes)",
          error.what(), to_string(begin)));
    }
    lower::verify(lowering_, !options_.interpret);
    if (const ExitCode code = show_result(); code != kOk) return code;
    if (options_.time_passes) print_times();
    return kOk;
  }

  // Checks that each pass accepts the stage at which the previous passes leave the program.
  ExitCode check_stages() {
    ir::ProgramStage stage = lowering_.program.stage;
    for (const lower::Pass& pass : passes_) {
      if (pass.in != stage) {
        err_ << fmt::format("texloom-opt: pass {} needs stage {}, but the program is at stage {}\n",
                            pass.name, to_string(pass.in), to_string(stage));
        return kWrongInput;
      }
      stage = pass.out;
    }
    return kOk;
  }

  static std::string_view way_to_legalized(ir::ProgramStage stage) {
    if (stage == ir::ProgramStage::Te) return "--pass=lower,legalize leads there";
    if (stage == ir::ProgramStage::Kernels) return "--pass=legalize leads there";
    return "--list-passes shows the way there";
  }

  // Shows the program, its results, or the source of its kernels, according to the options.
  ExitCode show_result() {
    const ir::ProgramStage stage = lowering_.program.stage;
    const std::string_view kind = ir::to_string(lowering_.target.kind);
    if (options_.emit && *options_.emit != kind) {
      err_ << fmt::format("texloom-opt: --emit={} does not fit the target; use --emit={}\n",
                          *options_.emit, kind);
      return kWrongInput;
    }
    if (options_.emit && stage != ir::ProgramStage::Legalized) {
      err_ << fmt::format(
          "texloom-opt: --emit={} takes stage legalized, the program is at {}; {}\n",
          *options_.emit, to_string(stage), way_to_legalized(stage));
      return kWrongInput;
    }
    if (options_.interpret) {
      interpret();
    } else if (options_.emit) {
      const codegen::Backend& backend = codegen::backend_of(lowering_.target.kind);
      check_dialect(backend);
      for (const auto& code : backend.emit(lowering_.program, lowering_.target, [] {})) {
        out_ << code.listing();
      }
    } else {
      out_ << text_of_program();
    }
    return kOk;
  }

  // Refuses constructs that the backend's printer cannot express: the user may have written the
  // program, or left out steps of legalize.
  void check_dialect(const codegen::Backend& backend) const {
    const codegen::Dialect dialect = backend.dialect(lowering_.target);
    DiagnosticSink sink;
    for (const codegen::DialectViolation& v : find_violations(lowering_.program, dialect)) {
      sink.error(v.location, Code::BadProgram,
                 "run all steps of --pass=legalize on a program at stage kernels",
                 "{} cannot express {}: {}", dialect.name, v.node, v.problem);
    }
    sink.throw_if_errors();
  }

  void interpret() {
    // For a schedule, runs the computes as they are written.
    const ir::Program program = lowering_.program.stage == ir::ProgramStage::Te
                                    ? validation::unscheduled_program(lowering_)
                                    : lowering_.program;
    check_symbols(program);
    const Interpretation result =
        interpret_random(program, {.seed = static_cast<uint64_t>(options_.seed),
                                   .one_image = options_.one_image,
                                   .symbols = options_.symbols,
                                   .max_steps = options_.max_steps});
    for (const ir::Report& report : result.reports) {
      findings_.push_back(finding_of(report, text_, file_));
    }
    out_ << result.values;
  }

  // Refuses values for symbols that do not exist, because such a name is a mistake. With
  // --split-input-file the symbol may belong to another program of the file.
  void check_symbols(const ir::Program& program) const {
    if (options_.split_input) return;
    std::vector<std::string> known;
    for (const ir::Expr& symbol : program.symbols) known.push_back(ir::as<ir::Var>(symbol)->name);
    for (const auto& [name, value] : options_.symbols) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      const std::string names =
          known.empty() ? "it has no symbols" : fmt::format("it has {}", fmt::join(known, ", "));
      throw UsageError{
          fmt::format("the program has no symbol '{}', which --symbols sets; {}", name, names)};
    }
  }

  // A group has the result of its last step, so "all" prints it only once.
  bool prints(const lower::Pass& pass) const {
    return std::any_of(options_.print_after.begin(), options_.print_after.end(),
                       [&](const std::string& name) {
                         return name == pass.name || (name == "all" && pass.steps.empty());
                       });
  }

  std::string text_of_program() const {
    return to_string(lowering_, {.locations = options_.locations});
  }

  void print_times() const {
    double total = 0;
    err_ << fmt::format("{:>12}  pass\n", "ms");
    for (const lower::PassTime& time : times_) {
      err_ << fmt::format("{:>12.3f}  {}\n", time.took.count(), time.pass->name);
      if (time.pass->steps.empty()) total += time.took.count();
    }
    err_ << fmt::format("{:>12.3f}  total\n", total);
  }

  // Reports the findings. Warnings are not a failure.
  ExitCode tell() const {
    for (const Finding& f : findings_) err_ << f.rendered << "\n";
    const bool wrong = std::any_of(findings_.begin(), findings_.end(),
                                   [](const Finding& f) { return f.kind != "warning"; });
    return wrong ? kWrongInput : kOk;
  }

  ExitCode compare() const {
    const std::vector<std::string> problems = unexpected(findings_, text_, file_);
    for (const std::string& problem : problems) err_ << problem << "\n";
    return problems.empty() ? kOk : kWrongInput;
  }

  const Options& options_;
  const std::string text_, file_;
  std::ostream& out_;
  std::ostream& err_;
  lower::Lowering lowering_;
  std::vector<lower::Pass> passes_;
  std::vector<lower::PassTime> times_;
  std::vector<Finding> findings_;
};

// The passes for the kind of the target that the options name.
void list_passes(const Options& options, std::ostream& out) {
  const ir::Target target = options.target ? ir::parse_target(*options.target, {}) : ir::Target{};
  for (const graph::GraphPass& pass : graph::graph_passes())
    out << fmt::format("{:<43}{:<11}-> {:<11}{}\n", pass.name, "graph", "graph", pass.summary);
  const std::vector<lower::Pass> passes = codegen::all_passes(target.kind);
  for (const lower::Pass* pass : lower::rows_of(passes)) {
    const bool is_step = pass->name.find('.') != std::string_view::npos;
    out << fmt::format("{:<43}{:<11}-> {:<11}{}\n",
                       fmt::format("{}{}", is_step ? "  " : "", pass->name), to_string(pass->in),
                       to_string(pass->out), pass->summary);
  }
}

ExitCode run_file(const Options& options, std::istream& in, std::ostream& out, std::ostream& err) {
  const std::string text = read_text(options.file, in);
  if (!options.split_input) return Runner(options, text, out, err).run();
  ExitCode worst = kOk;
  bool first = true;
  for (std::string& part : split_input(text)) {
    if (!std::exchange(first, false)) out << kDivider << "\n";
    worst = std::max(worst, Runner(options, std::move(part), out, err).run());
  }
  return worst;
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
        std::ostream& err) {
  const auto run_command = [&] {
    const Options options = parse_options(arguments);
    if (options.help) out << kHelp;
    if (options.list_passes) list_passes(options, out);
    if (options.help || options.list_passes) return kOk;
    return run_file(options, in, out, err);
  };
  return report_errors("texloom-opt", run_command, out, err);
}

}  // namespace texloom::opt
