#include "ir/parse_buffer.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace texloom::ir {
namespace {

// Of a buffer: far above all devices, and far enough below 2^63 for products of two.
constexpr int64_t kMaxElements = int64_t{1} << 48;
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
    shape();
    d_.layout = linear_layout(d_.shape);
    if (!reader_.accept(",")) return;
    const Token at = reader_.peek();
    d_.layout = layout();
    if (d_.layout.object == MemoryObject::Image2d) {
      reader_.wrong(at, "declare it as texture2d<...>", "the layout of a buffer is a texture's");
    }
  }

  MemoryScope memory_scope() {
    for (const MemoryScope scope : {MemoryScope::Global, MemoryScope::Shared, MemoryScope::Local}) {
      if (reader_.accept_word(to_string(scope))) return scope;
    }
    reader_.fail_expected("'global', 'shared', 'local' or 'texture2d'");
  }

  void texture() {
    reader_.expect("<");
    element_type();
    reader_.expect(">");
    shape();
    const Token at = reader_.peek();
    const int64_t columns = reader_.integer("the texture's columns", 1, kMaxElements);
    reader_.expect_word("x");
    const int64_t rows = reader_.integer("the texture's rows", 1, kMaxElements);
    reader_.expect_word("texels");
    reader_.expect(",");
    const Token layout_token = reader_.peek();
    d_.layout = layout();
    if (d_.layout.object != MemoryObject::Image2d) {
      reader_.wrong(layout_token, "begin the layout with 'texture'",
                    "the layout of a texture is one of another object");
    }
    if (columns != d_.layout.col_count() || rows != d_.layout.row_count()) {
      reader_.wrong(at, "write the numbers that follow from the layout",
                    "the layout has {} x {} texels", d_.layout.col_count(), d_.layout.row_count());
    }
    if (reader_.accept(",")) origin();
  }

  void origin() {
    reader_.expect_word("origin");
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
    if (!reader_.accept("]")) {
      do {
        d_.shape.push_back(reader_.integer("an extent", 1, kMaxElements));
        multiply(at, elements, d_.shape.back());
      } while (reader_.accept(","));
      if (!reader_.accept("]")) reader_.fail_expected("',' or ']'");
    }
    if (d_.shape.size() > kMaxRank) {
      reader_.wrong(at, "fuse some of its axes", "a shape of more than {} axes", kMaxRank);
    }
  }

  void multiply(const Token& at, int64_t& product, int64_t factor) const {
    if (__builtin_mul_overflow(product, factor, &product) || product > kMaxElements) {
      reader_.wrong(at, "make it smaller", "there are more than {} elements", kMaxElements);
    }
  }

  // -- Layouts.

  Layout layout() {
    Layout l;
    l.shape = d_.shape;
    const Token at = reader_.peek();
    l.object = object();
    reader_.expect("[");
    std::vector<std::string> axes = binders(at);
    reader_.expect("->");
    l.rows = parts("rows", axes);
    reader_.expect(",");
    l.cols = parts("cols", axes);
    reader_.expect(",");
    l.lanes = parts("lanes", axes);
    if (reader_.accept(",")) {
      reader_.expect_word("padding");
      reader_.expect("=");
      reader_.expect_word("zero");
      l.padding = Padding::Zero;
    }
    reader_.expect("]");
    places(at, l);
    return l;
  }

  MemoryObject object() {
    for (const MemoryObject object : {MemoryObject::Buffer, MemoryObject::Image2d,
                                      MemoryObject::Image2dArray, MemoryObject::Image1dBuffer}) {
      if (reader_.accept_word(spelling(object))) return object;
    }
    reader_.fail_expected("a layout");
  }

  std::vector<std::string> binders(const Token& at) {
    std::vector<std::string> axes;
    reader_.expect("(");
    if (!reader_.accept(")")) {
      do {
        const NamedToken name = reader_.name("the name of an axis");
        if (std::find(axes.begin(), axes.end(), name.name) != axes.end()) {
          reader_.wrong(name.token, "name each axis once", "{} is there twice", name.token.text);
        }
        axes.push_back(name.name);
      } while (reader_.accept(","));
      if (!reader_.accept(")")) reader_.fail_expected("',' or ')'");
    }
    if (axes.size() != d_.shape.size()) {
      reader_.wrong(at, "name each axis of the shape", "the layout has {} axes, the shape {}",
                    axes.size(), d_.shape.size());
    }
    return axes;
  }

  std::vector<LayoutPart> parts(std::string_view which, const std::vector<std::string>& axes) {
    const Token at = reader_.expect_word(which);
    reader_.expect("=");
    reader_.expect("(");
    std::vector<LayoutPart> list;
    int64_t count = 1;
    if (reader_.accept(")")) return list;
    do {
      list.push_back(part(axes));
      multiply(at, count, list.back().extent);
    } while (reader_.accept(","));
    if (!reader_.accept(")")) reader_.fail_expected("',' or ')'");
    return list;
  }

  LayoutPart part(const std::vector<std::string>& axes) {
    const NamedToken name = reader_.name("an axis");
    const auto found = std::find(axes.begin(), axes.end(), name.name);
    if (found == axes.end()) {
      reader_.wrong(name.token, "use the names in front of '->'", "there is no axis {}",
                    name.token.text);
    }
    LayoutPart p;
    p.axis = static_cast<int>(found - axes.begin());
    if (reader_.accept("/")) p.divisor = reader_.integer("a divisor", 1, kMaxElements);
    const int64_t extent = d_.shape[static_cast<size_t>(p.axis)];
    p.extent = (extent + p.divisor - 1) / p.divisor;
    if (reader_.accept("%")) p.extent = reader_.integer("an extent", 1, kMaxElements);
    return p;
  }

  // The digits of each axis have to follow one another and to reach its end: then every element
  // has one place, and no two have the same.
  void places(const Token& at, const Layout& l) const {
    std::vector<LayoutPart> all;
    for (const auto* list : {&l.rows, &l.cols, &l.lanes}) {
      all.insert(all.end(), list->begin(), list->end());
    }
    std::sort(all.begin(), all.end(), [](const LayoutPart& a, const LayoutPart& b) {
      return std::tie(a.axis, a.divisor, a.extent) < std::tie(b.axis, b.divisor, b.extent);
    });
    std::vector<int64_t> reached(l.shape.size(), 1);
    for (const LayoutPart& p : all) {
      int64_t& next = reached[static_cast<size_t>(p.axis)];
      if (p.divisor != next) bad_parts(at, p.axis);
      multiply(at, next, p.extent);
    }
    for (size_t axis = 0; axis < reached.size(); ++axis) {
      if (reached[axis] < l.shape[axis]) bad_parts(at, static_cast<int>(axis));
    }
  }
  [[noreturn]] void bad_parts(const Token& at, int axis) const {
    reader_.wrong(at, "cut it into digits, as d0/4 and d0%4",
                  "the parts of axis {} do not make up the whole axis", axis);
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
