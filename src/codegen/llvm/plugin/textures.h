// Textures of kernels: their fields, and the places of texels in memory.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>

namespace texloom::codegen::native {

// A texture as the function gets it: the fields of texloom_native_texture.
struct Texture {
  llvm::Value* texels = nullptr;
  llvm::Value* width = nullptr;
  llvm::Value* height = nullptr;
  llvm::Value* row_pitch = nullptr;
};

// Loads the fields of the texture at this address.
Texture texture_at(llvm::IRBuilder<>& builder, llvm::Value* descriptor);

struct TexelPlace {
  llvm::Value* is_inside = nullptr;  // whether the texel is in the image
  llvm::Value* address = nullptr;    // if it is
};

// The place of the texel at integers of 64 bits, which may be negative; a texel has `bytes` bytes.
TexelPlace texel_place(llvm::IRBuilder<>& builder, const Texture& texture, llvm::Value* column,
                       llvm::Value* row, uint64_t bytes);

}  // namespace texloom::codegen::native
