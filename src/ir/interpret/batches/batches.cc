#include "ir/interpret/batches/batches.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "ir/interpret/batches/code.h"
#include "ir/interpret/batches/runner.h"
#include "ir/visit.h"
#include "support/check.h"

namespace texloom::ir {
namespace {

std::int64_t elements_of(const BufferNode& buffer) {
  std::int64_t count = 1;
  for (const std::int64_t extent : buffer.shape) count *= extent;
  return count;
}

// The steps of the interpreter; a number that is too large may be rounded.
double steps_of(const Stmt& s) {
  return 1 + visit(
                 s,
                 [](const For& n) {
                   const std::int64_t* extent = int_value(n.extent);
                   return extent == nullptr ? 0 : static_cast<double>(*extent) * steps_of(n.body);
                 },
                 [](const If& n) { return steps_of(n.then); },
                 [](const Let& n) { return steps_of(n.body); },
                 [](const Nest& n) { return steps_of(n.body); },
                 [](const Seq& n) {
                   double sum = 0;
                   for (const Stmt& each : n.statements) sum += steps_of(each);
                   return sum;
                 },
                 [](const auto&) { return 0.0; });
}

bool is_suitable(const BufferNode& buffer) {
  return !buffer.is_texture() && !buffer.is_symbolic() && buffer.type.is_scalar();
}

class Batches {
 public:
  Batches(const Program& program, std::span<const std::span<const std::byte>> inputs)
      : program_(program), inputs_(inputs) {}

  bool run(const BatchOptions& options) {
    for (const auto* list : {&program_.params, &program_.temporaries}) {
      for (const Buffer& each : *list) {
        if (!is_suitable(*each)) return false;
      }
    }
    if (!is_within(static_cast<double>(options.max_steps)) || !compile()) return false;
    place();
    batch::Runner runner(arrays_, options.interruption);
    return std::ranges::all_of(nests_, [&](const batch::Code& nest) { return runner.run(nest); });
  }

  // The bytes of the parameters after the inputs; false if one of them was not computed.
  bool take(std::vector<std::vector<std::byte>>& outputs) {
    const auto made = std::span(program_.params).subspan(inputs_.size());
    const auto array_of = [&](const Buffer& each) -> batch::Array& {
      return arrays_.at(each.get());
    };
    if (!std::ranges::all_of(made, [&](const Buffer& b) { return array_of(b).is_known; }))
      return false;
    for (const Buffer& each : made) outputs.push_back(std::move(array_of(each).own));
    return true;
  }

 private:
  bool is_within(double most) const {
    double steps = steps_of(program_.body);
    for (const Buffer& each : program_.temporaries)
      steps += static_cast<double>(elements_of(*each));
    return steps <= most;
  }

  bool compile() {
    const std::span<const Buffer> given = std::span(program_.params).first(inputs_.size());
    std::unordered_set<const BufferNode*> written;
    for (const Buffer& each : given) written.insert(each.get());
    const Stmt& body = program_.body;
    const auto* sequence =
        body->kind == StmtKind::Seq ? static_cast<const Seq*>(body.get()) : nullptr;
    for (const Stmt& each : sequence == nullptr ? Stmts{body} : sequence->statements) {
      std::optional<batch::Code> code = batch::code_of(each);
      if (!code) return false;
      for (const BufferNode* array : code->stored)
        if (!written.insert(array).second) return false;
      nests_.push_back(std::move(*code));
    }
    return true;
  }

  void place() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const BufferNode& param = *program_.params[i];
      TL_CHECK(
          static_cast<std::int64_t>(inputs_[i].size()) == elements_of(param) * param.type.bytes(),
          param.name);
      arrays_[&param] = {.bytes = inputs_[i].data(), .is_known = true};
    }
    // Memory for the others is taken when a nest computes them.
    for (std::size_t i = inputs_.size(); i < program_.params.size(); ++i)
      arrays_[program_.params[i].get()] = {};
    for (const Buffer& each : program_.temporaries) arrays_[each.get()] = {};
  }

  const Program& program_;
  std::span<const std::span<const std::byte>> inputs_;
  std::vector<batch::Code> nests_;
  batch::Arrays arrays_;
};

}  // namespace

bool interpret_in_batches(const Program& program,
                          std::span<const std::span<const std::byte>> inputs,
                          std::vector<std::vector<std::byte>>& outputs,
                          const BatchOptions& options) {
  Batches batches(program, inputs);
  return batches.run(options) && batches.take(outputs);
}

}  // namespace texloom::ir
