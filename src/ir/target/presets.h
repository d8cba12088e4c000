// The table of presets: for each kind of target its families of devices.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/target/target.h"

namespace texloom::ir {

// The limits and features that every device of a family has.
struct Preset {
  TargetKind kind;
  // The value of -device=; "" for the limits that all devices of the kind have.
  std::string_view device;
  // A word in the names of the family's devices. The word "" recognizes every device. Without a
  // word, no device is recognized as one of the family.
  std::optional<std::string_view> word;
  DeviceClass device_class;
  KernelLimits limits;
  Features features = {};
  LanguageVersion language = {};
};

// Presets of a kind are neighbors; the first has no device.
std::span<const Preset> presets();

// A processor whose name stands for a target of kind Llvm: "haswell" for "llvm
// -mtriple=x86_64-linux-gnu -mcpu=haswell".
struct ProcessorPreset {
  std::string_view name;
  std::string_view triple, cpu;  // as in Machine
};

std::span<const ProcessorPreset> processors();

// The target that the name of a processor stands for; nullopt for other words.
std::optional<Target> processor_target(std::string_view name);

// The target of a preset; nullopt if there is none. A processor is a preset of kind Llvm.
std::optional<Target> preset_target(TargetKind kind, std::string_view device);
// The target of the first family of this class whose word occurs in one of the device's names. If
// there is none, the target that suits all devices of the kind.
Target recognized_target(TargetKind kind, DeviceClass device_class,
                         std::span<const std::string_view> names);
// The texts without attributes that parse_target() knows, for help lines: those of presets, and the
// names of processors.
std::vector<std::string> target_presets();

}  // namespace texloom::ir
