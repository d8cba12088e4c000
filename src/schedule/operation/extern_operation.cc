#include "schedule/operation/extern_operation.h"

#include <algorithm>
#include <unordered_map>

#include "ir/accesses.h"
#include "ir/visit.h"
#include "schedule/operation/buffer_statement.h"
#include "schedule/operation/kernel_nests.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::schedule {

using namespace ir;  // the whole file works on IR nodes

namespace {

// Moves allocations of shared memory around the kernel's loops: all threads of a block see one
// array, whichever loop the statement allocates it in.
Stmt with_shared_outside(const Stmt& kernel) {
  std::vector<const Allocate*> shared;
  walk(kernel, [&](const Allocate& n) {
    if (n.buffer->memory == MemoryScope::Shared) shared.push_back(&n);
  });
  Stmt body = rewrite(kernel, [](const Allocate& n, const Stmt& s) {
    return n.buffer->memory == MemoryScope::Shared ? n.body : s;
  });
  for (auto n = shared.rbegin(); n != shared.rend(); ++n) {
    body = make_allocate((*n)->buffer, body, (*n)->location);
  }
  return body;
}

Stmt in_nests(const Stmt& s, const Buffer& result) {
  return divided_into_kernels(s, [&](const Stmt& kernel) {
    return make_nest(result, with_shared_outside(kernel), kernel->location);
  });
}

class ExternChecker {
 public:
  explicit ExternChecker(const Operation& op) : op_(op) {}

  void run() const {
    if (op_.types.empty() || op_.types.size() > kMaxOutputs) {
      wrong({}, "give the shapes of 1 to 64 outputs", "it has no output, or more than 64");
    }
    for (const ExternInput& input : op_.reads) {
      refuse(find_problem(input.buffer, input.tensor, op_.location));
    }
    for (const Buffer& output : op_.writes) refuse(find_problem(output));
    check_statement();
  }

 private:
  [[noreturn]] void wrong(const SourceLocation& where, std::string help,
                          const std::string& problem) const {
    fail(where.known() ? where : op_.location, Code::BadExtern, std::move(help), "extern '{}': {}",
         op_.name, problem);
  }
  void refuse(const std::optional<StatementProblem>& problem) const {
    if (problem) wrong(problem->location, problem->help, problem->text);
  }

  void check_statement() const {
    Program program;
    program.name = op_.name;
    program.params = op_.writes;
    std::vector<Buffer> inputs;
    for (const ExternInput& input : op_.reads) {
      inputs.push_back(input.buffer);
      const auto same = [&](const Buffer& b) { return b.same_as(input.buffer); };
      if (std::none_of(program.params.begin(), program.params.end(), same)) {
        program.params.push_back(input.buffer);
      }
    }
    program.symbols = symbols();
    program.body = in_nests(op_.statement, op_.writes.front());
    refuse(find_problem(program, inputs));
  }

  // The symbols of its extents and of its statement; lowering checks that calls give them values.
  Exprs symbols() const {
    Exprs symbols = scalars_in(op_);
    const auto note = [&](const Var& v) {
      const auto same = [&](const Expr& known) { return known.get() == &v; };
      if (std::none_of(symbols.begin(), symbols.end(), same)) symbols.emplace_back(&v);
    };
    const auto note_extents = [&](const Buffer& b) {
      for (const Expr& extent : b->extents) walk(extent, note);
    };
    for (const ExternInput& input : op_.reads) note_extents(input.buffer);
    for (const Buffer& output : op_.writes) note_extents(output);
    return symbols;
  }

  const Operation& op_;
};

std::vector<Tensor> each_once(const std::vector<ExternInput>& reads) {
  std::vector<Tensor> inputs;
  for (const ExternInput& input : reads) {
    const bool known = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const Tensor& t) { return t->same_tensor(*input.tensor); });
    if (!known) inputs.push_back(input.tensor);
  }
  return inputs;
}

}  // namespace

Op make_extern(std::string name, std::string tag, std::vector<ExternInput> inputs,
               std::vector<Buffer> outputs, Stmt statement, SourceLocation location,
               Ref<OperationAttributes> attributes) {
  auto* op = new Operation;
  Op result(op);
  op->kind = OperationKind::Extern;
  op->name = std::move(name);
  op->tag = std::move(tag);
  for (const Buffer& output : outputs) op->types.push_back(output->type);
  op->inputs = each_once(inputs);
  op->reads = std::move(inputs);
  op->writes = std::move(outputs);
  op->statement = std::move(statement);
  op->location = std::move(location);
  op->attributes = std::move(attributes);
  ExternChecker(*op).run();
  op->shape = output_shape(*op, 0);
  return result;
}

Op with_inputs(const Operation& op, std::vector<Tensor> tensors) {
  OperationFields other = op;
  for (size_t i = 0; i < tensors.size(); ++i) other.reads[i].tensor = std::move(tensors[i]);
  other.inputs = each_once(other.reads);
  return Op(new Operation(std::move(other)));
}

namespace {

// The row-major buffer, with elements of another type.
Buffer retyped(const Buffer& buffer, Type type) {
  if (buffer->is_symbolic())
    return make_array(buffer->name, type, buffer->extents, buffer->location);
  return make_buffer(buffer->name, type, buffer->shape, MemoryScope::Global, buffer->location);
}

}  // namespace

Op with_types(const Operation& op, const std::vector<Tensor>& tensors,
              const std::vector<Type>& outputs) {
  TL_CHECK(tensors.size() == op.reads.size() && outputs.size() == op.writes.size());
  std::unordered_map<const BufferNode*, Buffer> stored;  // the buffers of other types
  const auto as_stored = [&](const Buffer& buffer, Type type) {
    if (buffer->type == type) return buffer;
    const Buffer made = retyped(buffer, type);
    return stored.emplace(buffer.get(), made).first->second;
  };
  std::vector<ExternInput> reads;
  for (size_t i = 0; i < tensors.size(); ++i)
    reads.push_back({tensors[i], as_stored(op.reads[i].buffer, tensors[i]->type)});
  std::vector<Buffer> writes;
  for (size_t i = 0; i < outputs.size(); ++i) writes.push_back(as_stored(op.writes[i], outputs[i]));
  const auto find = [&](const Buffer& buffer) {
    const auto found = stored.find(buffer.get());
    return found == stored.end() ? Buffer() : found->second;
  };
  const auto is_written = [&](const Buffer& buffer) {
    return std::ranges::any_of(op.writes, [&](const Buffer& b) { return b.same_as(buffer); });
  };
  bool fits = true;
  for_each_access(op.statement, [&](const BufferAccess& access) {
    if (find(access.buffer) &&
        (access.foreign || access.buffer->nontemporal || access.type != access.buffer->type ||
         access.reads() == is_written(access.buffer)))
      fits = false;
  });
  const auto is_stored = [&](const Prefetch& n) { return static_cast<bool>(find(n.buffer)); };
  if (!fits || any_of(op.statement, is_stored)) return {};
  Stmt statement = rewrite(
      op.statement,
      [&](const Load& n, const Expr& e) {
        const Buffer buffer = find(n.buffer);
        return buffer ? make_cast(n.type, make_load(buffer, n.indices, n.location), n.location) : e;
      },
      [&](const Store& n, const Stmt& s) {
        const Buffer buffer = find(n.buffer);
        if (!buffer) return s;
        return make_store(buffer, n.indices, make_cast(buffer->type, n.value, n.location),
                          n.location);
      });
  return make_extern(op.name, op.tag, std::move(reads), std::move(writes), std::move(statement),
                     op.location, op.attributes);
}

Stmt nests_of(const Operation& op, const std::vector<Buffer>& reads,
              const std::vector<Buffer>& writes) {
  std::unordered_map<const BufferNode*, Buffer> places;
  for (size_t i = 0; i < reads.size(); ++i) places.emplace(op.reads[i].buffer.get(), reads[i]);
  for (size_t i = 0; i < writes.size(); ++i) places.emplace(op.writes[i].get(), writes[i]);
  const Stmt statement =
      with_places(op.statement, [&](const Buffer& b, const Exprs& indices) -> ElementPlace {
        const auto found = places.find(b.get());
        return {found == places.end() ? b : found->second, indices};
      });
  return in_nests(statement, writes.front());
}

}  // namespace texloom::schedule
