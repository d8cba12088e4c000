#include "validation/versions.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "codegen/backend.h"
#include "ir/accesses.h"
#include "ir/equal.h"
#include "ir/interpret/interpret.h"
#include "ir/visit.h"
#include "lower/pipeline.h"
#include "support/check.h"
#include "support/diagnostic.h"
#include "validation/counted_traffic.h"
#include "validation/unscheduled.h"

namespace texloom::validation {

namespace {

// The origin of an array in the caller's image: three texels to the right, one down.
constexpr int64_t kOriginX = 3, kOriginY = 1;

// Counts elements of parameters as steps, as the interpreter counts the elements that it allocates.
void check_size(const ir::Program& program, int64_t max_steps) {
  int64_t left = max_steps;
  for (const ir::Buffer& param : program.params) {
    const int64_t elements = element_count(param->shape);
    left -= std::min(left + 1, elements);
    if (left >= 0) continue;
    fail(param->location, Code::InterpreterLimit, "allow more steps, or give smaller extents",
         "the parameters have more than {} elements", max_steps);
  }
}

void fill(const ir::BufferNode& buffer, const ir::Placement& place, const Bytes& elements) {
  const int64_t size = buffer.type.bytes();
  TL_CHECK(static_cast<int64_t>(elements.size()) == element_count(buffer.shape) * size);
  const std::byte* next = elements.data();
  ir::for_each_element(buffer, place, [&](int64_t element) {
    place.memory->set(element, ir::decode(buffer.type, next));
    next += size;
  });
}

Bytes contents_of(const ir::BufferNode& buffer, const ir::Placement& place) {
  const int64_t size = buffer.type.bytes();
  Bytes elements(static_cast<size_t>(element_count(buffer.shape) * size));
  std::byte* next = elements.data();
  ir::for_each_element(buffer, place, [&](int64_t element) {
    ir::encode(buffer.type, place.memory->get(element), next);
    next += size;
  });
  return elements;
}

// Whether a loop over threads uses private memory of its threads that is allocated around the loop:
// partial results of reductions, or values on their way to shared memory. Before the stage
// `kernels`, the interpreter runs the threads one after the other, with one such buffer for all of
// them.
bool has_private_memory_around_threads(const ir::Program& program) {
  return any_of(program.body, [](const ir::Allocate& allocation) {
    if (!ir::is_private(allocation.buffer->memory)) return false;
    return any_of(allocation.body, [&](const ir::For& loop) {
      return loop.loop == ir::LoopKind::Thread && accesses(loop.body, allocation.buffer);
    });
  });
}

}  // namespace

Version run(const ir::Program& any_call, const Invocation& call, int64_t max_steps) {
  const ir::Program program = at_call(any_call, call);
  const std::vector<std::optional<Bytes>>& inputs = call.inputs;
  TL_CHECK(inputs.size() <= program.params.size());
  check_size(program, max_steps);
  std::deque<ir::Memory> memories;
  std::vector<ir::Placement> places;
  for (size_t i = 0; i < program.params.size(); ++i) {
    const ir::BufferNode& param = *program.params[i];
    const bool is_placed = !param.origin.is_zero();
    const int64_t x = is_placed ? kOriginX : 0, y = is_placed ? kOriginY : 0;
    memories.push_back(memory_for(param, x, y));
    places.push_back({&memories.back(), x, y});
    if (param.layout.padding == ir::Padding::Zero) memories.back().define_all();
    if (i >= inputs.size()) {
      memories.back().define_all();  // the report of a checked program has no bad index yet
    } else if (inputs[i]) {
      fill(param, places.back(), *inputs[i]);
    }
  }
  Version version;
  ir::AccessCounts counts;
  version.reports = interpret(program, places, {.max_steps = max_steps, .counts = &counts});
  if (program.stage == ir::ProgramStage::Legalized && version.reports.empty()) {
    version.wrong_traffic = wrong_traffic(program, counts);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    version.arrays.push_back(contents_of(*program.params[i], places[i]));
  }
  return version;
}

void run_versions(const lower::Lowering& lowering, const Invocation& call, int64_t max_steps,
                  FunctionRef<void(const Version&)> see) {
  ir::Program last;
  const auto run_one = [&](std::string_view pass, const ir::Program& program) {
    if (!program.foreign.empty()) return;  // foreign code runs only on a device
    if (last.body && last.stage == program.stage && equal(last, program)) return;
    last = program;
    Version version = run(program, call, max_steps);
    version.pass = pass;
    see(version);
  };
  run_one("unscheduled", unscheduled_program(lowering));
  const auto run_after = [&](const lower::Pass& pass, const lower::Lowering& at) {
    if (pass.out == ir::ProgramStage::Te || pass.lacks_barriers) return;
    const bool has_kernels =
        pass.out == ir::ProgramStage::Kernels || pass.out == ir::ProgramStage::Legalized;
    if (!has_kernels && has_private_memory_around_threads(at.program)) return;
    run_one(pass.name, at.program);
  };
  lower::Lowering lowered = lowering;
  lowered.verify_each = true;
  lowered = lower::lower(std::move(lowered), run_after);
  const codegen::Backend& backend = codegen::backend_of(lowering.target.kind);
  lower::run_passes({&backend.legalize, 1}, lowered, run_after);
  backend.emit(lowered.program, lowering.target, [] {});
}

}  // namespace texloom::validation
