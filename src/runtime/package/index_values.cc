#include "runtime/package/index_values.h"

#include <utility>

#include "runtime/package/package_format.h"

namespace texloom::runtime {

void IndexValues::refuse(std::string problem) {
  refuse(Status(StatusCode::InvalidArgument, std::move(problem)));
}
void IndexValues::refuse(Status problem) {
  if (ok()) status_ = std::move(problem);
}

bool IndexValues::takes(std::size_t bytes) {
  if (!ok()) return false;
  if (bytes > budget_) {
    refuse("the index refers to the same bytes several times");
    return false;
  }
  budget_ -= bytes;
  return true;
}

std::string IndexValues::text(const flatbuffers::String* text) {
  if (text == nullptr || !takes(text->size() + 1)) return {};
  return text->str();
}

std::vector<std::string> IndexValues::texts(const IndexTables<index::Text>* texts) {
  return tables<std::string>(texts, [this](const index::Text& each) { return text(each.value()); });
}

std::vector<Attribute> IndexValues::attributes(const IndexTables<index::Attribute>* attributes) {
  return tables<Attribute>(attributes, [this](const index::Attribute& each) {
    Attribute made{text(each.name()), each.integer()};
    if (each.kind() == index::AttributeKind::Real) made.value = each.real();
    if (each.kind() == index::AttributeKind::Text) made.value = text(each.text());
    if (each.kind() > index::AttributeKind::MAX)
      refuse(fmt::format("attribute \"{}\" has the unknown kind {}", made.name,
                         static_cast<int>(each.kind())));
    return made;
  });
}

Size IndexValues::size(const index::Size& size) {
  const std::uint32_t number = size.expression();
  if (number == 0) return size.value();
  if (expressions_ == nullptr || number > expressions_->size()) {
    refuse(fmt::format("a size is expression {}, but there are {} expressions", number,
                       expressions_ == nullptr ? 0 : expressions_->size()));
    return 0;
  }
  const auto* steps = expressions_->Get(number - 1)->steps();
  if (steps != nullptr && steps->size() > kMaxSizeSteps) {
    refuse(fmt::format("expression {}: a size has {} steps; {} is the limit", number, steps->size(),
                       kMaxSizeSteps));
    return 0;
  }
  auto made = Size::from_steps(structs<Size::Step>(steps, [this](const index::SizeStep& step) {
    return Size::Step{enumerator<Size::Op>(step.op(), index::SizeOp::MAX, "an operator of a size"),
                      step.value()};
  }));
  if (made.ok()) return *std::move(made);
  refuse(made.status().with_context(fmt::format("expression {}", number)));
  return 0;
}

std::vector<Size> IndexValues::sizes(const IndexVector<const index::Size*>* sizes) {
  return structs<Size>(sizes, [this](const index::Size& each) { return size(each); });
}

}  // namespace texloom::runtime
