#include "ir/text/parse_buffer.h"

#include "ir/text/parse_expr.h"
#include "ir/text/parse_layout.h"

namespace texloom::ir {
namespace {

constexpr size_t kMaxRank = 64;

class DeclarationParser {
 public:
  DeclarationParser(TextReader& reader, TextNames& names) : reader_(reader), names_(names) {}

  Declaration declaration() {
    if (reader_.accept_word("texture2d")) {
      texture();
    } else {
      buffer();
    }
    return std::move(d_);
  }

 private:
  void buffer() {
    d_.memory = memory_scope();
    element_type();
    const Token at = reader_.peek();
    shape();
    if (!d_.extents.empty()) {
      if (d_.memory == MemoryScope::Global) return use();
      reader_.wrong(at, "give it constant extents",
                    "an array in {} memory must have a constant size", to_string(d_.memory));
    }
    d_.layout = linear_layout(d_.shape);
    if (reader_.at_word("nontemporal", 1) || reader_.at_word("counters", 1)) return use();
    if (!reader_.accept(",")) return;
    const Token layout_token = reader_.peek();
    d_.layout = LayoutParser(reader_).bind(d_.shape);
    if (d_.layout.object == MemoryObject::Image2d) {
      reader_.wrong(layout_token, "declare it as texture2d<...>",
                    "a buffer has the layout of a texture");
    }
    use();
  }

  void use() {
    if (!reader_.accept(",")) return;
    const Token at = reader_.peek();
    if (reader_.accept_word("counters")) {
      d_.counts = true;
      return;  // buffer_problem() says which arrays may be counters
    }
    reader_.expect_word("nontemporal");
    d_.nontemporal = d_.memory == MemoryScope::Global;
    if (d_.nontemporal) return;
    reader_.wrong(at, "leave out nontemporal", "an array in {} memory has no non-temporal stores",
                  to_string(d_.memory));
  }

  MemoryScope memory_scope() {
    for (const MemoryScope scope :
         {MemoryScope::Global, MemoryScope::Shared, MemoryScope::Local, MemoryScope::Fragment}) {
      if (reader_.accept_word(to_string(scope))) return scope;
    }
    reader_.fail_expected("'global', 'shared', 'local', 'fragment' or 'texture2d'");
  }

  void texture() {
    reader_.expect("<");
    element_type();
    reader_.expect(">");
    shape();
    if (d_.extents.empty()) {
      const Token at = reader_.peek();
      const int64_t columns = reader_.integer("the texture's columns", 1, kMaxElements);
      reader_.expect_word("x");
      const int64_t rows = reader_.integer("the texture's rows", 1, kMaxElements);
      reader_.expect_word("texels");
      reader_.expect(",");
      texels(d_.shape);
      if (columns != d_.layout.col_count() || rows != d_.layout.row_count()) {
        reader_.wrong(at, "write the numbers that follow from the layout",
                      "the declared size is {} x {} texels, but the layout has {} x {}", columns,
                      rows, d_.layout.col_count(), d_.layout.row_count());
      }
    } else {
      reader_.expect(",");
      texels(open_shape(d_.extents));
    }
    if (reader_.accept(",")) place();
  }

  // The layout of a texture.
  void texels(const Shape& shape) {
    const Token at = reader_.peek();
    d_.layout = LayoutParser(reader_).bind(shape);
    if (d_.layout.object == MemoryObject::Image2d) return;
    reader_.wrong(at, "begin the layout with 'texture'",
                  "the layout of a texture does not begin with 'texture'");
  }

  void place() {
    d_.origin.exact_image = reader_.accept_word("exact_image");
    if (d_.origin.exact_image) return;
    if (!reader_.accept_word("origin")) reader_.fail_expected("'origin' or 'exact_image'");
    reader_.expect("=");
    reader_.expect("(");
    d_.origin.x = origin_word();
    reader_.expect(",");
    d_.origin.y = origin_word();
    reader_.expect(")");
  }
  Expr origin_word() {
    const NamedToken name = reader_.name("a variable");
    return names_.bind(reader_, name, reader_.accept(":") ? reader_.type() : kInt32);
  }

  void element_type() {
    const Token at = reader_.peek();
    d_.type = reader_.type();
    if (!d_.type.is_scalar()) {
      reader_.wrong(at, "declare more elements instead", "an element is {}, not a scalar", at.text);
    }
  }

  void shape() {
    const Token at = reader_.expect("[");
    int64_t elements = 1;
    Exprs extents;
    if (!reader_.accept("]")) {
      do {
        extents.push_back(extent());
        if (const int64_t* number = int_value(extents.back())) {
          d_.shape.push_back(*number);
          multiply(at, elements, *number);
        }
      } while (reader_.accept(","));
      if (!reader_.accept("]")) reader_.fail_expected("',' or ']'");
    }
    if (extents.size() > kMaxRank) {
      reader_.wrong(at, "fuse some of its axes", "the shape has more than {} axes", kMaxRank);
    }
    if (d_.shape.size() == extents.size()) return;
    d_.shape.clear();
    d_.extents = std::move(extents);
  }

  // A lone number, or an expression of symbols.
  Expr extent() {
    const bool alone = reader_.at(",", 1) || reader_.at("]", 1);
    if (reader_.at("-") || (reader_.peek().kind == TokenKind::Integer && alone)) {
      const int64_t number = reader_.integer("an extent", 1, kMaxElements);
      return make_int(number, number > INT32_MAX ? kInt64 : kInt32);
    }
    return ExprParser(reader_, names_).domain("an extent");
  }

  void multiply(const Token& at, int64_t& product, int64_t factor) const {
    if (__builtin_mul_overflow(product, factor, &product) || product > kMaxElements) {
      reader_.wrong(at, "use smaller extents", "there are more than {} elements", kMaxElements);
    }
  }

  TextReader& reader_;
  TextNames& names_;
  Declaration d_;
};

}  // namespace

Declaration parse_declaration(TextReader& reader, TextNames& names) {
  return DeclarationParser(reader, names).declaration();
}

}  // namespace texloom::ir
