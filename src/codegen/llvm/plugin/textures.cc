#include "codegen/llvm/plugin/textures.h"

namespace texloom::codegen::native {

using llvm::Value;

Texture texture_at(llvm::IRBuilder<>& builder, Value* descriptor) {
  const auto field = [&](llvm::Type* type, uint64_t offset) {
    return builder.CreateLoad(type,
                              builder.CreateConstGEP1_64(builder.getInt8Ty(), descriptor, offset));
  };
  return {field(builder.getPtrTy(), 0), field(builder.getInt32Ty(), 8),
          field(builder.getInt32Ty(), 12), field(builder.getInt64Ty(), 16)};
}

TexelPlace texel_place(llvm::IRBuilder<>& builder, const Texture& texture, Value* column,
                       Value* row, uint64_t bytes) {
  llvm::Type* wide = builder.getInt64Ty();
  // Negative coordinates are large as unsigned numbers.
  Value* inside =
      builder.CreateAnd(builder.CreateICmpULT(column, builder.CreateZExt(texture.width, wide)),
                        builder.CreateICmpULT(row, builder.CreateZExt(texture.height, wide)));
  Value* offset = builder.CreateAdd(builder.CreateMul(row, texture.row_pitch),
                                    builder.CreateMul(column, builder.getInt64(bytes)));
  return {inside, builder.CreateGEP(builder.getInt8Ty(), texture.texels, offset)};
}

}  // namespace texloom::codegen::native
