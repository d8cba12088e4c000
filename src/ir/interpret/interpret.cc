#include "ir/interpret/interpret.h"

#include "ir/interpret/block.h"
#include "ir/interpret/stepper.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

class Interpreter {
 public:
  Interpreter(const Program& program, const InterpretOptions& options)
      : program_(program),
        state_{.reporter = Reporter(options.max_reports),
               .steps = StepBudget(options.max_steps, options.interruption),
               .origins = {},
               .logical = program.stage == ProgramStage::Loops,
               .counts = options.counts,
               .eager = program.stage == ProgramStage::Legalized},
        runner_(state_),
        evaluator_(runner_, view_) {
    TL_CHECK(program.stage != ProgramStage::Te, "stage te is not interpreted");
  }

  void bind(const Buffer& param, const Placement& at) {
    place(param, at, true);
    if (param->origin.is_zero()) return;
    evaluator_.bind(param->origin.x, at.x);
    evaluator_.bind(param->origin.y, at.y);
  }

  void bind(const Kernel& kernel, const LaunchArguments& arguments) {
    size_t memory = 0, scalar = 0;
    for (const KernelParam& param : kernel.params) {
      TL_CHECK(param.scalar ? scalar < arguments.scalars.size() : memory < arguments.memory.size(),
               kernel.name);
      if (param.buffer) {
        place(param.buffer, arguments.memory[memory++], false);
      } else {
        evaluator_.bind(param.scalar,
                        Value{param.scalar->type, Lanes(arguments.scalars[scalar++])});
      }
    }
  }

  std::vector<Report> run() {
    Stepper stepper(program_.body, runner_, view_, evaluator_);
    for (const Buffer& temporary : program_.temporaries) stepper.allocate(temporary);
    while (true) {
      switch (stepper.advance()) {
        case Stepper::Halt::End:
          return state_.reporter.take();
        case Stepper::Halt::Barrier:
          break;
        case Stepper::Halt::Shuffle:
        case Stepper::Halt::LastBlock:
          TL_UNREACHABLE("only threads of kernels halt here");
        case Stepper::Halt::Launch:
          launch(static_cast<const Launch&>(stepper.halted_at()));
      }
    }
  }

  std::vector<Report> run(const Kernel& kernel, const std::array<int64_t, 3>& blocks) {
    launch(kernel, blocks);
    return state_.reporter.take();
  }

 private:
  static void check(const BufferNode& param, const Placement& at) {
    TL_CHECK(at.memory != nullptr, param.name);
    const Memory& memory = *at.memory;
    TL_CHECK(memory.type() == param.type && memory.is_image() == param.is_texture(), param.name);
    if (param.is_symbolic()) return;
    TL_CHECK(at.x >= 0 && at.y >= 0 && at.x + param.layout.col_count() <= memory.width() &&
                 at.y + param.layout.row_count() <= memory.height(),
             param.name + " does not fit into its memory");
    TL_CHECK(!param.origin.is_zero() || (at.x == 0 && at.y == 0), param.name + " has no origin");
  }

  // Binds a buffer to memory that the caller owns.
  void place(const Buffer& buffer, const Placement& at, bool is_param) {
    check(*buffer, at);
    const std::shared_ptr<Memory> memory(at.memory, [](Memory*) {});
    view_.own[buffer.get()] = {memory, at.x, at.y, is_param};
  }

  void launch(const Launch& n) {
    const Kernel& kernel = program_.kernels.at(static_cast<size_t>(n.kernel));
    std::array<int64_t, 3> grid{};
    for (size_t i = 0; i < grid.size(); ++i) {
      grid[i] = evaluator_.evaluate_decision(kernel.grid[i], &kernel.grid[i], kernel.location,
                                             "the grid is");
    }
    launch(kernel, grid);
  }

  void launch(const Kernel& kernel, const std::array<int64_t, 3>& grid) {
    LaunchState launch{kernel, view_.own, evaluator_, state_, {}, {}};
    for (int64_t z = 0; z < grid[2]; ++z) {
      for (int64_t y = 0; y < grid[1]; ++y) {
        for (int64_t x = 0; x < grid[0]; ++x) run_block(launch, {x, y, z});
      }
    }
  }

  const Program& program_;
  RunState state_;
  Runner runner_;
  View view_;
  Evaluator evaluator_;
};

void refuse_foreign_calls(const Program& program) {
  const auto refuse = [&](const Stmt& body) {
    walk(body, [&](const ForeignCall& n) {
      const Foreign* symbol = program.symbol_named(n.function);
      fail(n.location, Code::NotInterpreted, "run the program on a device and compare the results",
           "the function '{}' is {}, which is not interpreted", n.function,
           symbol == nullptr ? "foreign C code" : fmt::format("code of '{}'", symbol->library));
    });
  };
  refuse(program.body);
  for (const Kernel& kernel : program.kernels) refuse(kernel.body);
}

}  // namespace

std::vector<Report> interpret(const Program& program, const std::vector<Placement>& arguments,
                              const InterpretOptions& options) {
  refuse_foreign_calls(program);
  TL_CHECK(program.symbols.empty(), "symbols have no values: instantiate the program");
  TL_CHECK(arguments.size() == program.params.size(), program.name);
  Interpreter interpreter(program, options);
  for (size_t i = 0; i < arguments.size(); ++i) interpreter.bind(program.params[i], arguments[i]);
  std::vector<Report> reports = interpreter.run();
  for (const Placement& argument : arguments) argument.memory->forget_origins();
  return reports;
}

std::vector<Report> interpret_launch(const Program& program, size_t kernel,
                                     const LaunchArguments& arguments,
                                     const InterpretOptions& options) {
  refuse_foreign_calls(program);
  const Kernel& launched = program.kernels.at(kernel);
  Interpreter interpreter(program, options);
  interpreter.bind(launched, arguments);
  std::vector<Report> reports = interpreter.run(launched, arguments.blocks);
  for (const Placement& argument : arguments.memory) argument.memory->forget_origins();
  return reports;
}

}  // namespace texloom::ir
