#include "apps/texloom-opt/interpretation.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "ir/accesses.h"
#include "ir/interpret/instantiate.h"
#include "ir/interpret/interpret.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::opt {
namespace {

using ir::Buffer;
using ir::BufferNode;
using ir::Layout;
using ir::Memory;
using ir::Placement;
using ir::Program;
using ir::Scalar;

constexpr size_t kShownElements = 8;

std::set<const BufferNode*> written_buffers(const Program& program) {
  std::set<const BufferNode*> written;
  const auto look = [&](const ir::Stmt& body) {
    ir::for_each_access(body, [&](const ir::BufferAccess& access) {
      if (access.writes()) written.insert(access.buffer.get());
    });
  };
  look(program.body);
  for (const ir::Kernel& kernel : program.kernels) look(kernel.body);
  return written;
}

int64_t element_count(const BufferNode& buffer) {
  const Layout& layout = buffer.layout;
  return layout.row_count() * layout.col_count() * layout.lane_count();
}

// The memory of all parameters.
class Arguments {
 public:
  Arguments(const Program& program, const InterpretationOptions& options) : program_(program) {
    for (const Buffer& param : program.params) {
      placements_.push_back(param->origin.is_zero() ? alone(*param)
                            : options.one_image     ? in_common(*param)
                                                    : inside(*param));
    }
  }

  const std::vector<Placement>& placements() const { return placements_; }

  // Fills with small numbers that every type represents exactly.
  void fill(size_t number, std::mt19937_64& random) {
    const BufferNode& buffer = *program_.params[number];
    if (buffer.layout.padding == ir::Padding::Zero && buffer.origin.is_zero()) {
      placements_[number].memory->define_all();
    }
    ir::for_each_element(buffer, placements_[number], [&](int64_t element) {
      Scalar value;
      if (buffer.type.is_float()) {
        value.number = (static_cast<double>(random() % 65) - 32) / 8;
      } else if (buffer.type.is_bool()) {
        value.integer = static_cast<int64_t>(random() % 2);
      } else {
        value.integer = static_cast<int64_t>(random() % 17) - (buffer.type.is_int() ? 8 : 0);
      }
      placements_[number].memory->set(element, value);
    });
  }

  // Makes all elements undefined.
  void make_undefined(size_t number) {
    const BufferNode& buffer = *program_.params[number];
    const Placement& at = placements_[number];
    ir::for_each_element(buffer, at, [&](int64_t element) {
      at.memory->set(element, {.undefined = ir::kNeverWritten});
    });
  }

 private:
  Placement alone(const BufferNode& buffer) {
    memories_.push_back(memory_for(buffer));
    return {&memories_.back()};
  }
  // A placement away from all corners.
  Placement inside(const BufferNode& buffer) {
    const Layout& layout = buffer.layout;
    memories_.push_back(Memory::image(buffer.type, layout.col_count() + 2, layout.row_count() + 3));
    memories_.back().define_all();
    return {&memories_.back(), 1, 2};
  }
  Placement in_common(const BufferNode& buffer) {
    const auto key = std::pair(buffer.type.code, buffer.type.bits);
    if (!images_.contains(key)) {
      int64_t width = 1, height = 0;
      for (const Buffer& param : program_.params) {
        if (param->origin.is_zero() || param->type != buffer.type) continue;
        width = std::max(width, param->layout.col_count() + 1);
        height += param->layout.row_count();
      }
      memories_.push_back(Memory::image(buffer.type, width, height));
      memories_.back().define_all();
      images_[key] = {&memories_.back(), 1, 0};
    }
    Placement& next = images_[key];
    const Placement placement = next;
    next.y += buffer.layout.row_count();
    return placement;
  }

  const Program& program_;
  std::deque<Memory> memories_;
  std::vector<Placement> placements_;
  std::map<std::pair<ir::TypeCode, int>, Placement> images_;  // of the next texture
};

std::string spell(ir::Type type, const Scalar& value) {
  if (value.undefined != 0) return "undefined";
  if (type.is_float()) return fmt::format("{}", value.number);
  if (type.is_uint()) return fmt::format("{}", static_cast<uint64_t>(value.integer));
  return fmt::format("{}", value.integer);
}

// FNV-1a over the spelling of all elements, so that the hash is the same on every machine.
class Hash {
 public:
  void add(const std::string& text) {
    for (const char c : text + ' ') {
      state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0xcbf29ce484222325U;
};

std::string values_of(const BufferNode& buffer, const Placement& placement) {
  std::string line = fmt::format("{}: {}[{}] =", buffer.name, to_string(buffer.type),
                                 fmt::join(buffer.shape, ", "));
  Hash hash;
  size_t number = 0;
  ir::for_each_element(buffer, placement, [&](int64_t element) {
    const std::string text = spell(buffer.type, placement.memory->get(element));
    hash.add(text);
    if (number++ < kShownElements) line += " " + text;
  });
  if (number > kShownElements) line += " ...";
  return line + fmt::format("  hash {:016x}\n", hash.value());
}

Program of_one_call(const Program& program, const InterpretationOptions& options) {
  constexpr int64_t kByDefault = 7;
  ir::SymbolValues values;
  for (const ir::Expr& symbol : program.symbols) {
    const auto given = options.symbols.find(ir::as<ir::Var>(symbol)->name);
    values[symbol] = given == options.symbols.end() ? kByDefault : given->second;
  }
  return values.empty() ? program : ir::instantiate(program, values);
}

}  // namespace

Interpretation interpret_random(const Program& symbolic, const InterpretationOptions& options) {
  const Program program = of_one_call(symbolic, options);
  int64_t left = options.max_steps;
  for (const Buffer& param : program.params) {
    left -= std::min(left + 1, element_count(*param));
    if (left >= 0) continue;
    fail(param->location, Code::InterpreterLimit, "give it more steps, or smaller extents",
         "the parameters have more than {} elements", options.max_steps);
  }
  Arguments arguments(program, options);
  const std::set<const BufferNode*> written = written_buffers(program);
  for (size_t i = 0; i < program.params.size(); ++i) {
    std::mt19937_64 random(options.seed * 1'000'003 + i);
    if (written.contains(program.params[i].get())) {
      arguments.make_undefined(i);
    } else {
      arguments.fill(i, random);
    }
  }
  Interpretation result{
      interpret(program, arguments.placements(), {.max_steps = options.max_steps}), {}};
  for (size_t i = 0; i < program.params.size(); ++i) {
    const BufferNode& param = *program.params[i];
    if (written.contains(&param)) result.values += values_of(param, arguments.placements()[i]);
  }
  return result;
}

}  // namespace texloom::opt
