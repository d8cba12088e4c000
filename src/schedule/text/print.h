// Prints the text form of a schedule (docs/text_form.md): the state that the directives produced,
// not their calls.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/text/print_names.h"
#include "schedule/schedule.h"

namespace texloom::schedule {

// The schedule has to outlive the printer and must not change meanwhile.
class SchedulePrinter {
 public:
  // `attributes`: whether to print the attributes of operations. Lowering does not use them.
  SchedulePrinter(const Schedule& schedule, ir::PrintOptions options, bool attributes = false);

  // Declares the symbols of shapes, the reducers and the tensor intrinsics.
  std::string head();
  // Each operation with its schedule, inputs before their readers.
  std::string operations();

  // The next functions serve other texts that name tensors of the schedule or contain shapes.
  const std::string& name(StageId id) const { return names_[static_cast<size_t>(id)]; }
  void note_symbols(const ir::Exprs& extents);
  // The name of a symbol that note_symbols() has seen.
  std::string symbol_name(const ir::Expr& symbol) {
    return ir::to_string(symbol, symbol_names_, {});
  }
  std::string type_and_shape(ir::Type type, const ir::Exprs& shape);

 private:
  // The name of a reducer and the text of what it computes.
  using ReducerKey = std::pair<std::string, std::string>;
  static ReducerKey key_of(const ir::Reducer& reducer);

  void note_operation(const Operation& op);
  void note_reducer(const Operation& op);
  void name_reducer(const ir::Expr& body, ir::PrintNames& names) const;
  ir::PrintNames axis_names(const Stage& stage) const;

  // Tensor intrinsics (print_intrinsic.cc).
  void note_intrinsics(const Stage& stage);
  std::string intrinsic_name(const TensorIntrinsic& intrinsic);
  std::string intrinsic_text(const TensorIntrinsic& intrinsic);
  std::string view(const TensorView& view, ir::PrintNames& names) const;

  std::string header(const Stage& stage);
  std::string extern_text(const Stage& stage);
  std::string scan_text(const Stage& stage) const;
  std::string input(const ir::Tensor& tensor) const;
  std::string directives(const Stage& stage);
  std::string relations(const Stage& stage);
  std::string relation(const Stage& stage, const Relation& relation);
  std::string leaves(const Stage& stage);
  std::string axis_list(const Stage& stage, const std::vector<ir::IterVar>& axes);
  std::string axis_name(StageId id, const ir::IterVar& axis);
  std::string virtual_thread(const ir::IterVar& thread);
  std::string body(const Stage& stage, const ir::Expr& e);
  std::string at(const SourceLocation& where) const { return ir::location_text(where, options_); }

  const Schedule& schedule_;
  ir::PrintOptions options_;
  bool attributes_;
  std::vector<std::string> names_;          // by stage id
  std::vector<ir::PrintNames> axis_names_;  // by stage id
  std::unordered_set<const ir::ExprNode*> axis_vars_;
  ir::PrintNames symbol_names_, virtual_names_, intrinsic_names_, reducer_spellings_;
  ir::Exprs symbols_;
  std::map<ReducerKey, std::string> reducer_names_;
  std::vector<ReducerKey> reducers_;
  std::vector<TensorIntrinsic> intrinsics_;
};

// The operations only, for people to read.
std::string to_string(const Schedule& schedule);

}  // namespace texloom::schedule
