#include "ir/interpret/instantiate.h"

#include <algorithm>

#include "ir/arith/simplify.h"
#include "ir/visit.h"
#include "support/diagnostic.h"

namespace texloom::ir {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 30;

Substitution numbers_for(const SymbolValues& values) {
  Substitution numbers;
  for (const auto& [symbol, value] : values) {
    std::visit(
        [&](auto number) {
          numbers[symbol] = symbol->type.is_float()
                                ? make_float(static_cast<double>(number), symbol->type)
                                : make_int(static_cast<int64_t>(number), symbol->type);
        },
        value);
  }
  return numbers;
}

[[noreturn]] void refuse(const Expr& extent) {
  fail(extent->location, Code::InterpreterLimit, "give the symbols other values",
       "the extent {} divides by 0", to_string(extent));
}

// The extent with the numbers in place of symbols. A constant, unless the extent depends on the
// loops around it.
Expr with_numbers(const Expr& extent, const Substitution& numbers) {
  const Expr value = arith::simplify(substitute(extent, numbers));
  if (!contains<Var>(value) && int_value(value) == nullptr) refuse(extent);
  return value;
}

class Instance {
 public:
  explicit Instance(const SymbolValues& values) : values_(numbers_for(values)) {}

  Program program(const Program& p) {
    kernels_ = &p.kernels;
    Program result{p.name, p.stage, {}, {}, {}, {}};
    for (const Buffer& param : p.params) result.params.push_back(buffer(param));
    for (const Buffer& b : p.temporaries) result.temporaries.push_back(buffer(b));
    result.body = stmt(p.body);
    for (const Kernel& k : p.kernels) result.kernels.push_back(kernel(k));
    return result;
  }

 private:
  Expr value_of(const Expr& e) const { return with_numbers(e, values_); }
  Expr at_least_one(const Expr& e) const {
    const Expr value = value_of(e);
    const int64_t* number = int_value(value);
    return number == nullptr ? value : make_int(std::max<int64_t>(*number, 1), e->type);
  }

  Buffer buffer(const Buffer& b) {
    if (!b || !b->is_symbolic()) return b;
    Buffer& made = buffers_[b.get()];
    if (!made) {
      Exprs extents;
      int64_t elements = 1;
      for (const Expr& e : b->extents) {
        extents.push_back(at_least_one(e));
        elements = std::min(kMaxElements + 1, elements * *int_value(extents.back()));
      }
      if (elements > kMaxElements) {
        fail(b->location, Code::InterpreterLimit, "give the symbols smaller values",
             "the array '{}' would have more than 2^30 elements", b->name);
      }
      made = b->is_texture() ? make_texture(b->name, b->type, close(b->layout, open_shape(extents)),
                                            b->origin, b->location)
                             : make_array(b->name, b->type, extents, b->location);
    }
    return made;
  }

  Stmt stmt(const Stmt& s) {
    return rewrite(
        substitute(s, values_),
        [&](const Load& n, const Expr&) {
          return make_load_as(n.type, buffer(n.buffer), n.indices, n.location);
        },
        [&](const Store& n, const Stmt&) {
          return make_store(buffer(n.buffer), n.indices, n.value, n.location);
        },
        [&](const TextureLoad& n, const Expr&) {
          return make_texture_load_as(n.type, buffer(n.texture), n.x, n.y, n.location);
        },
        [&](const TextureStore& n, const Stmt&) {
          return make_texture_store(buffer(n.texture), n.x, n.y, n.value, n.location);
        },
        [&](const Pointer& n, const Expr&) {
          return make_pointer(n.access, buffer(n.buffer), n.indices, n.extents, n.offset,
                              n.location);
        },
        [&](const Nest& n, const Stmt&) { return make_nest(buffer(n.result), n.body, n.location); },
        [&](const Allocate& n, const Stmt&) {
          return make_allocate(buffer(n.buffer), n.body, n.location);
        },
        [&](const Free& n, const Stmt&) { return make_free(buffer(n.buffer), n.location); },
        [&](const Launch& n, const Stmt& self) { return is_empty_grid(n) ? make_empty() : self; });
  }

  bool is_empty_grid(const Launch& n) const {
    const Kernel& kernel = kernels_->at(static_cast<size_t>(n.kernel));
    return std::any_of(kernel.grid.begin(), kernel.grid.end(), [&](const Expr& extent) {
      const Expr value = value_of(extent);
      const int64_t* number = int_value(value);
      return number != nullptr && *number < 1;
    });
  }

  Kernel kernel(const Kernel& k) {
    Kernel result = k;
    result.params.clear();
    for (const KernelParam& p : k.params) {
      if (p.scalar && values_.contains(p.scalar)) continue;
      const Expr extent = p.extent ? value_of(p.extent) : Expr();
      result.params.push_back({buffer(p.buffer), p.access, p.scalar, extent});
    }
    for (ThreadAxis& axis : result.axes) axis.extent = at_least_one(axis.extent);
    for (Expr& extent : result.grid) extent = at_least_one(extent);
    result.body = stmt(k.body);
    return result;
  }

  Substitution values_;
  const std::vector<Kernel>* kernels_ = nullptr;
  std::unordered_map<const BufferNode*, Buffer> buffers_;
};

}  // namespace

int64_t value_of(const Expr& extent, const SymbolValues& values) {
  const Expr value = with_numbers(extent, numbers_for(values));
  const int64_t* number = int_value(value);
  if (number == nullptr) refuse(extent);
  return *number;
}

Program instantiate(const Program& program, const SymbolValues& values) {
  return Instance(values).program(program);
}

}  // namespace texloom::ir
