// Parses the text form of a schedule: the inverse of schedule/text/print.h. docs/text_form.md has
// the grammar.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/text/parse_expr.h"
#include "schedule/schedule.h"

namespace texloom::schedule {

// Reads operations and their schedules. Fails with the code of the directive where a directive
// fails; does not make the checks that lowering makes.
class ScheduleParser {
 public:
  explicit ScheduleParser(ir::TextReader& reader) : reader_(reader) {}

  // Symbols, reducers and tensor intrinsics.
  void head();
  // Placeholders, computes, externs and scans, up to the end of the text.
  Schedule operations();

  // The stage of an operation that has been read.
  StageId stage(const ir::NamedToken& name) const;
  // The stage's name, where the text declares it.
  const ir::NamedToken& name_of(StageId id) const { return names_.at(static_cast<size_t>(id)); }
  // The number after the name of an operation with several outputs.
  size_t output_number() { return head_.exprs.output_number(); }
  struct TensorType {
    ir::Type type;
    ir::Exprs shape;
  };
  // A symbol of the head.
  ir::Expr symbol(const ir::NamedToken& name) const { return head_.names.variable(reader_, name); }
  // "float32[8, n]"
  TensorType tensor_type();
  // "texture:weight"
  ir::StorageScope memory_scope();
  // "=texture[(h, c) -> rows=(h), lanes=(c)]", for a tensor of this scope and shape.
  ir::LayoutPattern layout(const ir::StorageScope& scope, const ir::Shape& shape);

 private:
  // Names and the expressions that use them.
  struct Scope {
    explicit Scope(ir::TextReader& reader, const ir::TextNames* outer = nullptr)
        : names(outer), exprs(reader, names) {
      exprs.read_tensors();
    }
    ir::TextNames names;
    ir::ExprParser exprs;
  };
  // The axes of a stage by their names in the text.
  using Axes = std::map<std::string, ir::IterVar>;
  // An attachment to a loop of a later stage.
  struct PendingAttachment {
    StageId stage;
    ir::NamedToken host, axis;
    SourceLocation location;
  };

  void symbol();
  void reducer();
  ir::Exprs reducer_parameters(Scope& scope);
  // A tensor intrinsic (parse_intrinsic.cc).
  struct IntrinsicInput {
    ir::NamedToken name;
    TensorView view;
    ir::Tensor tensor;  // of the computation
  };
  void intrinsic();
  TensorView view(ir::TextNames& names);
  ir::Exprs scalars(ir::TextNames& names);
  Op computation(const ir::NamedToken& name, std::vector<IntrinsicInput>& inputs,
                 const ir::TextNames& scalars);
  std::vector<ir::NamedToken> operand_names();
  std::vector<ir::Type> types();
  ir::Exprs reducer_part(Scope& scope, std::string_view what, const std::vector<ir::Type>& types);
  void placeholder();
  std::string tag();
  Ref<OperationAttributes> attributes();
  void compute();
  // An extern (parse_extern.cc).
  struct Source {
    ir::Tensor now, origin;
  };
  void external();
  void scan();
  Source source();
  // "A#1"
  ir::Tensor named_tensor();
  void check_types(const ir::Token& at, const ir::NamedToken& name,
                   const std::vector<ir::Type>& types, const ir::Expr& body) const;
  std::vector<ir::IterVar> data_axes(Scope& scope);
  ir::Expr body(Scope& scope, const std::vector<ir::IterVar>& axes);
  void begin_stage(const ir::NamedToken& name, const Op& origin);

  // -- Directives of the last stage. Each function returns whether it found a directive.
  bool directive();
  bool placement(const ir::Token& word);
  bool loop_directive(const ir::Token& word);
  void scope(const ir::Token& word);
  void compute_at(const ir::Token& word);
  void predicate(const ir::Token& word);
  void align(const ir::Token& word);
  // A directive that sets the kind of a loop.
  bool loop_kind(const ir::Token& word);
  void pragma(const ir::Token& word);
  void pipeline(const ir::Token& word);
  void split(const ir::Token& word);
  void fuse(const ir::Token& word);
  void transform(const ir::Token& word);
  void reorder(const ir::Token& word);
  void loop(const ir::Token& word, ir::LoopKind kind);
  void tensorize(const ir::Token& word);
  void attach(const PendingAttachment& pending);
  void refuse_second_place(const ir::Token& word);

  // Reports the failures of a directive or an operation at this word.
  template <class F>
  static auto at_word(const ir::TextReader& reader, const ir::Token& word, F&& call) {
    try {
      return std::forward<F>(call)();
    } catch (const UserError& error) {
      const Diagnostic& d = error.diagnostics().front();
      if (d.location.column > 0) throw;  // the diagnostic has its place in the text already
      reader.fail_at(word, d.code, d.message, d.help);
    }
  }

  ir::NamedToken new_name();
  ir::IterVar add_axis(const ir::NamedToken& name, ir::IterKind kind, ir::Expr min, ir::Expr extent,
                       const SourceLocation& location);
  ir::IterVar axis(StageId id, const ir::NamedToken& name) const;
  ir::IterVar own_axis();
  ir::IterVar thread_axis();
  SourceLocation place(const ir::Token& word) { return reader_.location(reader_.line_of(word)); }
  ir::Shape own_shape(const ir::Token& word);
  Stage& own() { return schedule_.stage(current_); }

  ir::TextReader& reader_;
  Scope head_{reader_};
  Schedule schedule_;
  StageId current_ = -1;
  std::map<std::string, StageId> stages_;
  std::vector<ir::NamedToken> names_;  // by stage id
  std::vector<Axes> axes_;             // by stage id
  std::vector<PendingAttachment> pending_;
  std::map<std::string, ir::IterVar> virtual_threads_;
  std::map<std::string, TensorIntrinsic> intrinsics_;
};

}  // namespace texloom::schedule
