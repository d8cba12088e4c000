#include "codegen/c/defined_functions.h"

#include <fmt/format.h>

#include <set>

#include "codegen/c/spelling.h"
#include "ir/visit.h"

namespace texloom::codegen {
namespace {

// "float tl_hypot(float x, float y)"
std::string head_of(ExprPrinter& exprs, const std::string& name, const ir::Exprs& parameters) {
  std::string list;
  for (const ir::Expr& each : parameters)
    list += fmt::format("{}float {}", list.empty() ? "" : ", ", exprs.text(each));
  return fmt::format("float {}({})", name, list);
}

}  // namespace

std::string defined_name(ir::Intrinsic function) {
  return fmt::format("tl_{}", ir::info(function).te_name);
}

std::string function_text(ExprPrinter& exprs, const std::string& name,
                          const FunctionDefinition& definition) {
  std::set<std::string> declarations;
  const auto declare_calls = [&](const ir::Expr& e) {
    walk(e, [&](const ir::Call& n) {
      if (!is_defined(n.function)) return;
      declarations.insert(fmt::format("float {}(float{});\n", defined_name(n.function),
                                      n.arguments.size() == 2 ? ", float" : ""));
    });
  };
  std::string body;
  for (const auto& [var, value] : definition.values) {
    declare_calls(value);
    const std::string text = exprs.text(value);
    body += fmt::format("  const float {} = {};\n", exprs.text(var), text);
  }
  declare_calls(definition.result);
  std::string text;
  for (const std::string& each : declarations) text += each + "\n";
  text += head_of(exprs, name, definition.parameters) + " {\n" + body;
  return text + fmt::format("  return {};\n}}\n", exprs.text(definition.result));
}

std::string function_by_lanes(const std::string& name, const std::string& wide, ir::Type type,
                              int arity) {
  const std::string vector = value_type_name(type);
  std::string calls;
  for (int lane = 0; lane < type.lanes; ++lane) {
    const std::string suffix = lane_suffix(type.lanes, lane);
    calls += fmt::format("{}{}(x{}{})", lane == 0 ? "" : ", ", name, suffix,
                         arity == 2 ? ", y" + suffix : "");
  }
  return fmt::format("{0} {1}({0} x{2}) {{\n  return {0}({3});\n}}\n", vector, wide,
                     arity == 2 ? fmt::format(", {} y", vector) : "", calls);
}

}  // namespace texloom::codegen
