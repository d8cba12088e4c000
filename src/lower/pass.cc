#include "lower/pass.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "ir/verify/verify.h"
#include "lower/te_text.h"
#include "support/check.h"
#include "support/dump.h"

namespace texloom::lower {
namespace {

using ir::ProgramStage;
using Duration = decltype(PassTime::took);

// Copies the parts of a Lowering that its text contains.
Lowering printable(const Lowering& lowering) {
  if (lowering.program.stage == ProgramStage::Te) return lowering;
  Lowering copy;
  copy.program = lowering.program;
  copy.array_layouts = lowering.array_layouts;
  copy.symbol_arguments = lowering.symbol_arguments;
  copy.target = lowering.target;
  return copy;
}

// Whether the user wrote statements: in externs or tensor intrinsics.
bool has_given_statements(const schedule::Schedule& s) {
  return std::any_of(s.order().begin(), s.order().end(), [&](schedule::StageId id) {
    const schedule::Stage& stage = s.stage(id);
    return stage.op->is_extern() || stage.is_tensorized();
  });
}

InternalError with_input(const std::exception& error, std::span<const Pass> passes,
                         const Lowering& input) {
  std::string names;
  for (const Pass& pass : passes) names += (names.empty() ? "" : ",") + std::string(pass.name);
  // The text of a program at stage te names its target.
  const bool has_target = input.program.stage == ProgramStage::Te;
  const std::string target =
      has_target ? "" : fmt::format(" --target='{}'", ir::to_string(input.target));
  return with_dump(error, fmt::format("--pass={} --verify-each{}", names, target),
                   [&] { return to_string(input, {.locations = true}); });
}

class PassRunner {
 public:
  PassRunner(Lowering& lowering, PassObserver observer, std::vector<PassTime>* times)
      : lowering_(lowering), observer_(observer), times_(times) {
    if (!is_schedule()) note_first_program();
  }

  void run(std::span<const Pass> passes) {
    Lowering first;  // a copy of the input of the first pass
    if (lowering_.verify_each && is_schedule()) check_text(lowering_);
    for (const Pass& pass : passes) {
      if (lowering_.verify_each) {
        run(pass);
        continue;
      }
      Lowering input = printable(lowering_);
      naming_dump(pass, input, [&] { return run(pass); });
      if (&pass == passes.data()) first = std::move(input);
    }
    if (lowering_.verify_each || is_schedule()) return;
    try {
      verify_program();
    } catch (const InternalError& error) {
      throw with_input(error, passes, first);
    }
  }

 private:
  bool is_schedule() const { return lowering_.program.stage == ProgramStage::Te; }

  Duration run(const Pass& pass) {
    const size_t row = times_ == nullptr ? 0 : times_->size();
    if (times_ != nullptr) times_->push_back({&pass, {}});
    Duration took{};
    if (pass.run != nullptr) {
      took = run_alone(pass);
    } else {
      for (const Pass& step : pass.steps) took += run(step);
    }
    if (times_ != nullptr) (*times_)[row].took = took;
    observer_(pass, lowering_);
    return took;
  }

  Duration run_alone(const Pass& pass) {
    if (!lowering_.verify_each) return run_function(pass);
    return naming_dump(pass, printable(lowering_), [&] {
      const Duration took = run_function(pass);
      verify(lowering_, is_schedule() || leaves_accesses_proven());
      return took;
    });
  }

  Duration run_function(const Pass& pass) {
    const bool was_schedule = is_schedule();
    const auto begin = std::chrono::steady_clock::now();
    run_pass(pass, lowering_);
    const Duration took = std::chrono::steady_clock::now() - begin;
    if (was_schedule && !is_schedule()) note_first_program();
    return took;
  }

  // Returns what `run` returns. If it fails, the error names a file with `input`, the program
  // before the pass. Copying a schedule takes as long as a short pass, so only verify_each copies
  // it before each step.
  template <class Run>
  static Duration naming_dump(const Pass& pass, const Lowering& input, const Run& run) {
    try {
      return run();
    } catch (const std::logic_error& error) {  // InternalError, or of the standard library
      throw with_input(error, {&pass, 1}, input);
    }
  }

  void note_first_program() {
    const schedule::Schedule& s = lowering_.schedule;
    if (!s.order().empty() && !has_given_statements(s)) {
      proven_ = true;
    } else {
      first_program_ = lowering_.program;
    }
  }

  // Whether all accesses must be provably in bounds after each pass. Statements that a user wrote
  // may contain accesses that cannot be proven even at the start. A schedule shows whether it has
  // such statements. For another program, the verifier has to find out, so this check runs only
  // when needed.
  bool leaves_accesses_proven() {
    if (!proven_) {
      proven_ = ir::find_violations(first_program_, {.target = &lowering_.target}).empty();
    }
    return *proven_;
  }

  void verify_program() {
    ir::VerifyOptions options{.target = &lowering_.target};
    if (ir::find_violations(lowering_.program, options).empty()) return;
    options.check_accesses = leaves_accesses_proven();
    ir::verify(lowering_.program, options);
  }

  Lowering& lowering_;
  PassObserver observer_;
  std::vector<PassTime>* times_;
  ir::Program first_program_;   // the first program after stage te
  std::optional<bool> proven_;  // whether all its accesses are proven
};

void add_rows(std::span<const Pass> passes, std::vector<const Pass*>& rows) {
  for (const Pass& pass : passes) {
    rows.push_back(&pass);
    add_rows(pass.steps, rows);
  }
}

}  // namespace

std::vector<const Pass*> rows_of(std::span<const Pass> passes) {
  std::vector<const Pass*> rows;
  add_rows(passes, rows);
  return rows;
}

const Pass* find_pass(std::span<const Pass> passes, std::string_view name) {
  for (const Pass* row : rows_of(passes)) {
    if (row->name == name) return row;
  }
  return nullptr;
}

void run_pass(const Pass& pass, Lowering& lowering) {
  TL_CHECK(lowering.program.stage == pass.in, std::string(pass.name));
  if (pass.run == nullptr) {
    for (const Pass& step : pass.steps) run_pass(step, lowering);
    return;
  }
  try {
    pass.run(lowering);
  } catch (const UserError& error) {
    std::vector<Diagnostic> diagnostics = error.diagnostics();
    for (Diagnostic& d : diagnostics) {
      d.notes.push_back(
          fmt::format("found while lowering '{}', in pass {}", lowering.program.name, pass.name));
    }
    throw UserError(std::move(diagnostics));
  }
  lowering.program.stage = pass.out;
}

void run_passes(std::span<const Pass> passes, Lowering& lowering, PassObserver observer,
                std::vector<PassTime>* times) {
  PassRunner(lowering, observer, times).run(passes);
}

void verify(const Lowering& lowering, bool check_accesses) {
  const ir::VerifyOptions options{.target = &lowering.target, .check_accesses = check_accesses};
  if (lowering.program.stage != ProgramStage::Te) ir::verify(lowering.program, options);
  check_text(lowering, options);
}

}  // namespace texloom::lower
