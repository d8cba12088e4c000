#include "core/function/scalar_arguments.h"

#include <algorithm>
#include <cmath>

#include "ir/interpret/value.h"
#include "support/diagnostic.h"

namespace texloom::python {

using namespace ir;  // the whole file works on IR types

namespace {

struct Named {
  const std::string& name;
  Type type;
  SourceLocation where;
};

[[noreturn]] void refuse_kind(const py::handle& value, const Named& argument,
                              std::string_view wanted) {
  fail(argument.where, Code::WrongElementType, fmt::format("pass {}", wanted),
       "the argument '{}' is {}, not {}", argument.name, kind_text(value), wanted);
}

[[noreturn]] void refuse_value(const py::handle& value, const Named& argument) {
  fail(argument.where, Code::WrongElementType,
       "pass a number that the argument's type can represent",
       "the argument '{}' is {}, which is not a valid {}", argument.name,
       py::str(value).cast<std::string>(), to_string(argument.type));
}

double float_value(const py::handle& value, const Named& argument) {
  // Integers are refused, because they most likely mean that the arguments are in the wrong order.
  if (!py::hasattr(value, "__float__") || py::hasattr(value, "__index__")) {
    refuse_kind(value, argument, "a float");
  }
  const double number = py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>();
  const double result = rounded(argument.type, number);
  if (std::isfinite(number) && !std::isfinite(result)) refuse_value(value, argument);
  return result;
}

// The bits of an integer or a bool, as 64 bits.
int64_t integer_value(const py::handle& value, const Named& argument) {
  const Type type = argument.type;
  py::detail::make_caster<bool> truth;  // accepts bools of Python and NumPy
  if (type.is_bool() && truth.load(value, false)) return static_cast<bool>(truth) ? 1 : 0;
  if (!py::hasattr(value, "__index__")) {
    refuse_kind(value, argument, type.is_bool() ? "a bool" : "an integer");
  }
  const auto number = py::reinterpret_steal<py::int_>(PyNumber_Index(value.ptr()));
  if (!number) throw py::error_already_set();
  const int shift = 64 - type.bits;
  const py::int_ least(type.is_int() ? INT64_MIN >> shift : int64_t{0});
  const py::int_ most =
      type.is_int() ? py::int_(INT64_MAX >> shift) : py::int_(UINT64_MAX >> shift);
  if (number < least || number > most) refuse_value(value, argument);
  return type.is_int() ? number.cast<int64_t>() : static_cast<int64_t>(number.cast<uint64_t>());
}

hal::Constant constant_of(const py::handle& value, const Named& argument, Type passed_as) {
  if (passed_as.is_float()) {
    const double number = float_value(value, argument);
    return passed_as.bits == 64 ? hal::Constant(number) : hal::Constant(static_cast<float>(number));
  }
  const int64_t bits = integer_value(value, argument);
  if (passed_as.bits == 64) {
    return passed_as.is_int() ? hal::Constant(bits) : hal::Constant(static_cast<uint64_t>(bits));
  }
  return passed_as.is_int() ? hal::Constant(static_cast<int32_t>(bits))
                            : hal::Constant(static_cast<uint32_t>(bits));
}

// The index of `symbol` in `symbols`, or symbols.size() if `symbols` lacks it.
size_t place_in(const Exprs& symbols, const Expr& symbol) {
  const auto found = std::find_if(symbols.begin(), symbols.end(),
                                  [&](const Expr& s) { return s.same_as(symbol); });
  return static_cast<size_t>(found - symbols.begin());
}

}  // namespace

GivenNumbers given_numbers(const compile::CompiledModule& module,
                           std::span<const Parameter> parameters, std::span<const py::handle> args,
                           std::vector<py::handle>& tensors, const SourceLocation& where) {
  const auto& [sizes, scalars] = module.symbols;
  GivenNumbers given{runtime::GivenSymbols(sizes.size()),
                     std::vector<hal::Constant>(scalars.size(), hal::Constant(int32_t{0}))};
  for (size_t i = 0; i < args.size(); ++i) {
    if (parameters[i].is_array) {
      tensors.push_back(args[i]);
      continue;
    }
    const lower::SymbolArgument& argument = module.symbol_arguments[parameters[i].number];
    const Named named{as<Var>(argument.symbol)->name, argument.type, where};
    const size_t scalar = place_in(scalars, argument.symbol);
    if (scalar < scalars.size()) {
      given.scalars[scalar] = constant_of(args[i], named, argument.symbol->type);
    } else {
      given.symbols[place_in(sizes, argument.symbol)] = integer_value(args[i], named);
    }
  }
  return given;
}

}  // namespace texloom::python
