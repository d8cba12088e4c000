// The text form of targets: their kind, their preset, and the attributes in which they differ from
// the preset.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <sstream>

#include "ir/target/nearest_names.h"
#include "ir/target/presets.h"
#include "ir/target/target.h"
#include "support/check.h"
#include "support/diagnostic.h"

namespace texloom::ir {
namespace {

struct Number {
  int64_t& (*field)(Target&);
  int64_t most = 0;  // the most that any device of the kind has, if known
};

struct Flag {
  bool& (*field)(Target&);
};

// An attribute whose value is one of several words.
struct Choice {
  std::vector<std::string> (*words)();
  std::string (*word_of)(const Target&);
  void (*set)(Target&, std::string_view word);
  std::string_view refusal;  // the message that refuses other words: a format
};

// An attribute whose value is any word.
struct Word {
  std::string& (*field)(Target&);
};

// Sets of kinds: a bit for each.
constexpr unsigned bit_of(TargetKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr unsigned kEvery = ~0U;
constexpr unsigned kOpenCl = bit_of(TargetKind::OpenCL), kMetal = bit_of(TargetKind::Metal),
                   kLlvm = bit_of(TargetKind::Llvm);

struct Attribute {
  std::string_view name;
  std::variant<Number, Flag, Choice, Word> value;
  unsigned kinds = kEvery;  // the kinds of targets that have the attribute

  bool is_of(TargetKind kind) const { return (kinds & bit_of(kind)) != 0; }
};

template <int64_t KernelLimits::* kField>
int64_t& limit(Target& target) {
  return target.limits.*kField;
}

template <int64_t ArgumentSlots::* kField>
int64_t& slot(Target& target) {
  std::optional<ArgumentSlots>& slots = target.limits.slots;
  TL_CHECK(slots.has_value());
  return *slots.*kField;
}

constexpr LanguageVersion kMetalLanguages[] = {{2, 3}, {2, 4}, {3, 0}, {3, 1}, {3, 2}};

constexpr Choice kMetalLanguage{[] {
                                  std::vector<std::string> words;
                                  for (const LanguageVersion& version : kMetalLanguages)
                                    words.push_back(to_string(version));
                                  return words;
                                },
                                [](const Target& t) { return to_string(t.language); },
                                [](Target& t, std::string_view word) {
                                  for (const LanguageVersion& version : kMetalLanguages) {
                                    if (to_string(version) == word) t.language = version;
                                  }
                                },
                                "no kernels are made for version '{}' of Metal's language"};

constexpr Choice kDeviceClass{
    [] { return std::vector<std::string>{"cpu", "gpu"}; },
    [](const Target& t) { return std::string(to_string(t.device_class)); },
    [](Target& t, std::string_view word) {
      t.device_class = word == "cpu" ? DeviceClass::Cpu : DeviceClass::Gpu;
    },
    "the target attribute 'device_class' is cpu or gpu, not '{}'"};

constexpr std::array kMatrixUnits = {MatrixUnit::None, MatrixUnit::Loops, MatrixUnit::MmaSync,
                                     MatrixUnit::Simdgroup};

constexpr Choice kMatrixUnit{
    [] {
      std::vector<std::string> words;
      for (const MatrixUnit unit : kMatrixUnits) words.emplace_back(to_string(unit));
      return words;
    },
    [](const Target& t) { return std::string(to_string(t.features.matrix_unit)); },
    [](Target& t, std::string_view word) {
      t.features.matrix_unit =
          *std::ranges::find(kMatrixUnits, word, [](MatrixUnit unit) { return to_string(unit); });
    },
    "no kernels are made for the matrix unit '{}'"};

constexpr Choice kVectors{
    [] {
      std::vector<std::string> words;
      for (const VectorRegisters& each : kVectorRegisters) words.push_back(to_string(each));
      return words;
    },
    [](const Target& t) { return to_string(t.vectors); },
    [](Target& t, std::string_view word) {
      t.vectors = *std::ranges::find(kVectorRegisters, word,
                                     [](const VectorRegisters& each) { return to_string(each); });
    },
    "no schedules are made for the vector registers '{}', a number of them by their bytes"};

// The attributes, in the order in which the text of a target has them.
constexpr std::array kAttributes = {
    Attribute{"mtriple", Word{[](Target& t) -> std::string& { return t.machine.triple; }}, kLlvm},
    Attribute{"mcpu", Word{[](Target& t) -> std::string& { return t.machine.cpu; }}, kLlvm},
    Attribute{"mattr", Word{[](Target& t) -> std::string& { return t.machine.features; }}, kLlvm},
    Attribute{"msl", kMetalLanguage, kMetal},
    Attribute{"max_num_threads", Number{limit<&KernelLimits::max_threads>}},
    Attribute{"max_num_threads_z", Number{limit<&KernelLimits::max_threads_z>}},
    Attribute{"texture_spatial_limit", Number{limit<&KernelLimits::max_image_size>}},
    Attribute{"max_local_memory", Number{limit<&KernelLimits::local_memory_bytes>}},
    Attribute{"max_private_memory", Number{limit<&KernelLimits::private_memory_bytes>}},
    Attribute{"max_image_reads", Number{limit<&KernelLimits::max_image_reads>}},
    Attribute{"max_image_writes", Number{limit<&KernelLimits::max_image_writes>}},
    Attribute{"max_parameter_size", Number{limit<&KernelLimits::max_parameter_bytes>}},
    Attribute{"max_buffers", Number{slot<&ArgumentSlots::buffers>, 31}, kMetal},
    Attribute{"max_textures", Number{slot<&ArgumentSlots::textures>, 128}, kMetal},
    Attribute{"simd_width", Number{limit<&KernelLimits::simd_width>, 64}, kMetal},  // AMD's
    Attribute{"images", Flag{[](Target& t) -> bool& { return t.features.images; }}},
    Attribute{"float64", Flag{[](Target& t) -> bool& { return t.features.float64; }}, kOpenCl},
    Attribute{"float16_arithmetic",
              Flag{[](Target& t) -> bool& { return t.features.float16_arithmetic; }}},
    Attribute{"argument_buffers",
              Flag{[](Target& t) -> bool& { return t.features.argument_buffers; }}, kMetal},
    Attribute{"matrix_unit", kMatrixUnit, kOpenCl | kMetal},
    Attribute{"device_fence", Flag{[](Target& t) -> bool& { return t.features.device_fence; }},
              kOpenCl},
    Attribute{"device_class", kDeviceClass, kOpenCl},
    Attribute{"vector_registers", kVectors, kOpenCl},
    Attribute{"conditional_barriers",
              Flag{[](Target& t) -> bool& { return t.quirks.conditional_barriers; }}},
    Attribute{"vector_trigonometry",
              Flag{[](Target& t) -> bool& { return t.quirks.vector_trigonometry; }}, kOpenCl},
    Attribute{"contract", Flag{[](Target& t) -> bool& { return t.math.contract; }}},
    Attribute{"fast_math", Flag{[](Target& t) -> bool& { return t.math.fast; }}},
    Attribute{"checked", Flag{[](Target& t) -> bool& { return t.checked; }}},
    Attribute{"profile", Word{[](Target& t) -> std::string& { return t.profile; }},
              kOpenCl | kMetal},
};

// An attribute that kernels of the kind cannot have, as their language lacks the feature.
struct Lack {
  std::string_view attribute;
  std::string_view message, help;  // for a text that sets the attribute to 1
};

struct Kind {
  TargetKind kind;
  std::string_view name;  // in targets
  std::string_view api;   // in messages
  std::span<const Lack> lacks = {};
};

constexpr Lack kMetalLacks[] = {{"float64", "Metal's language has no float64",
                                 "compute in float32: x.astype('float32'), or build for "
                                 "\"opencl\""}};

constexpr std::array kKinds = {
    Kind{TargetKind::OpenCL, "opencl", "OpenCL"},
    Kind{TargetKind::Metal, "metal", "Metal", kMetalLacks},
    Kind{TargetKind::Llvm, "llvm", "LLVM"},
};

const Kind& row_of(TargetKind kind) {
  for (const Kind& row : kKinds) {
    if (row.kind == kind) return row;
  }
  TL_UNREACHABLE();
}

// The attribute of this name; null if targets of the kind have none.
const Attribute* find_attribute(TargetKind kind, std::string_view name) {
  for (const Attribute& row : kAttributes) {
    if (row.name == name && row.is_of(kind)) return &row;
  }
  return nullptr;
}

AttributeValue value_of(const Attribute& attribute, const Target& target) {
  Target copy = target;
  if (const auto* number = std::get_if<Number>(&attribute.value)) return number->field(copy);
  if (const auto* flag = std::get_if<Flag>(&attribute.value)) return flag->field(copy);
  if (const auto* word = std::get_if<Word>(&attribute.value)) return word->field(copy);
  return std::get<Choice>(attribute.value).word_of(target);
}

std::string preset_help() {
  return fmt::format("use one of {}", fmt::join(target_presets(), ", "));
}

// Help for the first word of a target, which is neither a kind nor a processor.
std::string kind_help(std::string_view word) {
  std::vector<std::string> names;
  for (const Kind& row : kKinds) names.emplace_back(row.name);
  for (const ProcessorPreset& each : processors()) names.emplace_back(each.name);
  const std::string near = nearest_help(word, names);
  return near.empty() ? preset_help() : near;
}

std::string device_help(TargetKind kind, std::string_view device) {
  std::vector<std::string> names;
  for (const Preset& each : presets()) {
    if (each.kind == kind && !each.device.empty()) names.emplace_back(each.device);
  }
  if (kind == TargetKind::Llvm) {
    for (const ProcessorPreset& each : processors()) names.emplace_back(each.name);
  }
  const std::vector<std::string> near = nearest_names(device, names);
  if (near.empty()) return preset_help();
  return fmt::format("write -device={}", fmt::join(near, " or -device="));
}

// Refuses a device's name, such as "metal:0", where a target is needed.
void refuse_device_name(std::string_view word, const SourceLocation& where) {
  for (const Kind& row : kKinds) {
    if (!word.starts_with(fmt::format("{}:", row.name))) continue;
    fail(where, Code::UnknownTarget,
         fmt::format("write \"{0}\" and attributes, as \"{0} -max_num_threads=256\"; "
                     "texloom.target.Target(\"{0}:0\") takes the name of a device",
                     row.name),
         "the target begins with '{}', the name of a device, not with a kind", word);
  }
}

// Sets attributes from words of a text, as "-max_num_threads=256".
class AttributeParser {
 public:
  AttributeParser(Target& target, const SourceLocation& where) : target_(target), where_(where) {}

  void apply(std::string_view word) {
    const size_t equals = word.find('=');
    name_ = word.substr(1, equals == word.npos ? word.npos : equals - 1);
    has_value_ = equals != word.npos;
    text_ = has_value_ ? word.substr(equals + 1) : "";
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value_);
    is_number_ = !text_.empty() && error == std::errc() && end == text_.data() + text_.size();
    const Kind& kind = row_of(target_.kind);
    for (const Lack& lack : kind.lacks) {
      if (lack.attribute == name_) return check(lack);
    }
    const Attribute* attribute = find_attribute(kind.kind, name_);
    if (attribute == nullptr) {
      refuse(fmt::format("write one as -max_num_threads=256; Target(\"{}\").attrs has them all "
                         "with their values",
                         kind.name),
             fmt::format("unknown target attribute '{}'", word));
    }
    std::visit([&](const auto& value) { set(value); }, attribute->value);
  }

 private:
  [[noreturn]] void refuse(const std::string& help, const std::string& message) {
    fail(where_, Code::UnknownTarget, help, "{}", message);
  }

  void check(const Lack& lack) {
    if (!is_number_ || value_ != 0) refuse(std::string(lack.help), std::string(lack.message));
  }

  void set(const Flag& flag) {
    if (!is_number_ || (value_ != 0 && value_ != 1)) {
      refuse(fmt::format("write -{}=1 or -{}=0", name_, name_),
             fmt::format("the target attribute '{}' is 0 or 1, not '{}'", name_, text_));
    }
    flag.field(target_) = value_ == 1;
  }

  void set(const Number& number) {
    if (!is_number_ || value_ < 1) {
      refuse(
          "give it a positive number",
          fmt::format("the target attribute '{}' needs a positive number, not '{}'", name_, text_));
    }
    if (number.most != 0 && value_ > number.most) {
      refuse(fmt::format("write at most -{}={}", name_, number.most),
             fmt::format("the target attribute '{}' is {}, but no device of {} has more than {}",
                         name_, value_, api_name(target_.kind), number.most));
    }
    number.field(target_) = value_;
  }

  void set(const Choice& choice) {
    const std::vector<std::string> words = choice.words();
    if (std::find(words.begin(), words.end(), text_) == words.end()) {
      refuse(fmt::format("use one of {}", fmt::join(words, ", ")),
             fmt::format(fmt::runtime(choice.refusal), text_));
    }
    choice.set(target_, text_);
  }

  void set(const Word& word) {
    if (!has_value_) {
      refuse(fmt::format("write -{}=, and the value", name_),
             fmt::format("the target attribute '{}' has no value", name_));
    }
    word.field(target_) = text_;
  }

  Target& target_;
  const SourceLocation& where_;
  std::string_view name_, text_;  // name and value of the attribute being set
  int64_t value_ = 0;
  bool has_value_ = false, is_number_ = false;
};

std::string text_of(const AttributeValue& value) {
  if (const bool* is_on = std::get_if<bool>(&value)) return *is_on ? "1" : "0";
  if (const int64_t* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return std::get<std::string>(value);
}

}  // namespace

std::string_view to_string(TargetKind kind) { return row_of(kind).name; }

std::string_view api_name(TargetKind kind) { return row_of(kind).api; }

std::optional<TargetKind> kind_named(std::string_view name) {
  for (const Kind& row : kKinds) {
    if (row.name == name) return row.kind;
  }
  return {};
}

std::string_view to_string(MatrixUnit unit) {
  switch (unit) {
    case MatrixUnit::None:
      return "none";
    case MatrixUnit::Loops:
      return "loops";
    case MatrixUnit::MmaSync:
      return "mma_sync";
    case MatrixUnit::Simdgroup:
      return "simdgroup";
  }
  TL_UNREACHABLE();
}

std::string to_string(LanguageVersion version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

Target parse_target(std::string_view text, const SourceLocation& where) {
  std::istringstream words{std::string(text)};
  std::string word;
  words >> word;
  const std::string name = word;
  std::optional<Target> target = processor_target(name);
  const std::optional<TargetKind> kind = target ? target->kind : kind_named(name);
  if (!kind) {
    refuse_device_name(name, where);
    fail(where, Code::UnknownTarget, kind_help(name), "no kernels are made for the target '{}'",
         text);
  }
  if (!target) target = preset_target(*kind, "");
  TL_CHECK(target.has_value());
  std::vector<std::string> attributes;
  while (words >> word) {
    if (word.starts_with("-device=")) {
      const std::string device = word.substr(std::string_view("-device=").size());
      if (!kind_named(name)) {
        fail(where, Code::UnknownTarget, "leave one of the two out",
             "the target '{}' names two processors", text);
      }
      if (!device.empty()) target = preset_target(*kind, device);
      if (device.empty() || !target) {
        fail(where, Code::UnknownTarget, device_help(*kind, device),
             "unknown {} device preset '{}'", api_name(*kind), device);
      }
    } else if (word.starts_with("-")) {
      attributes.push_back(word);
    } else {
      fail(where, Code::UnknownTarget, "attributes begin with a hyphen, as -max_num_threads=256",
           "unexpected '{}' in the target '{}'", word, text);
    }
  }
  AttributeParser parser(*target, where);
  for (const std::string& attribute : attributes) parser.apply(attribute);
  return *target;
}

std::string to_string(const Target& target) {
  const std::optional<Target> preset = preset_target(target.kind, target.device);
  TL_CHECK(preset.has_value());
  std::string text(to_string(target.kind));
  if (!target.device.empty()) text += " -device=" + target.device;
  const auto own = attributes(target), usual = attributes(*preset);
  for (size_t i = 0; i < own.size(); ++i) {
    const auto& [name, value] = own[i];
    if (value != usual[i].second) text += fmt::format(" -{}={}", name, text_of(value));
  }
  return text;
}

std::vector<std::pair<std::string_view, AttributeValue>> attributes(const Target& target) {
  std::vector<std::pair<std::string_view, AttributeValue>> values;
  for (const Attribute& row : kAttributes) {
    if (row.is_of(target.kind)) values.emplace_back(row.name, value_of(row, target));
  }
  return values;
}

}  // namespace texloom::ir
