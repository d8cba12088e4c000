"""The schemas of the operators that onnxruntime adds to ONNX, and that converters read.

onnxruntime's optimizer and quantizer write these operators, most of them in the domain
``com.microsoft``. Their definitions are in onnxruntime's ``docs/ContribOperators.md``.
"""

from __future__ import annotations

from functools import cache

from onnx.defs import OpSchema

from .converters.registry import MICROSOFT

# The element types that a letter stands for. An operator's inputs with equal letters have one type;
# a digit after the letter tells apart types that may differ, as `Q1` and `Q2`.
_TYPES = {
    "T": ("float16", "float", "double", "bfloat16"),
    "F": ("float",),
    "G": ("float", "float16"),
    "I": ("int32",),
    "L": ("int64",),
    "Q": ("uint8", "int8"),
    "U": ("uint8",),
    "W": ("uint8", "int8", "float"),
    "X": ("uint8", "int8", "uint16", "int16", "uint4", "int4"),
    "Y": ("uint8", "int8", "uint16", "int16", "uint4", "int4", "int32"),
    "Z": ("uint8", "float16", "float", "bfloat16"),
}

# Inputs and attributes of an operator: `name:type`, with `?` if it is optional, `*` if it is
# repeated, and `!` if it is required.
_GEMM = "alpha:float beta:float transA:int transB:int"
_WINDOWS = "auto_pad:string kernel_shape:ints pads:ints strides:ints"
_CONVOLUTION = f"{_WINDOWS} dilations:ints group:int"
_QUANTIZED = "X:Q X_scale:F X_zero_point:Q? Y_scale:F Y_zero_point:Q?"
_TWO_QUANTIZED = "A:Q A_scale:F A_zero_point:Q? B:Q B_scale:F B_zero_point:Q?"
_OPERATORS = {
    "Gelu": ("X:T", ""),
    "FastGelu": ("X:T bias:T?", ""),
    "QuickGelu": ("X:T", "alpha:float"),
    "BiasGelu": ("A:T B:T", ""),
    "SkipLayerNormalization": ("input:T skip:T gamma:T beta:T? bias:T?", "epsilon:float"),
    "SkipSimplifiedLayerNormalization": ("input:T skip:T gamma:T bias:T?", "epsilon:float"),
    "EmbedLayerNormalization": (
        "input_ids:I segment_ids:I? word_embedding:T position_embedding:T segment_embedding:T? "
        "gamma:T beta:T mask:I? position_ids:I?",
        "epsilon:float mask_index_type:int",
    ),
    "FusedMatMul": ("A:T B:T", "alpha:float transA:int transB:int transBatchA:int transBatchB:int"),
    "TransposeMatMul": ("A:T B:T", "alpha:float transA:int transB:int"),
    "FusedGemm": (
        "A:T B:T C:T?",
        f"{_GEMM} activation:string activation_alpha:float activation_beta:float "
        "activation_gamma:float",
    ),
    "FusedConv": (
        "X:T W:T B:T? Z:T?",
        f"{_CONVOLUTION} activation:string activation_params:floats",
    ),
    "NhwcConv": ("X:T W:T B:T?", _CONVOLUTION),
    "QuantizeLinear": ("x:G1 y_scale:G1 y_zero_point:X?", "axis:int"),
    "DequantizeLinear": ("x:Y x_scale:G x_zero_point:Y?", "axis:int"),
    "QLinearAdd": (f"{_TWO_QUANTIZED} C_scale:F C_zero_point:Q?", ""),
    "QLinearMul": (f"{_TWO_QUANTIZED} C_scale:F C_zero_point:Q?", ""),
    "QLinearSoftmax": (_QUANTIZED, "axis:int opset:int!"),
    "QLinearLeakyRelu": (_QUANTIZED, "alpha:float"),
    "QLinearSigmoid": (_QUANTIZED, ""),
    "QLinearGlobalAveragePool": (_QUANTIZED, "channels_last:int"),
    "QLinearAveragePool": (
        _QUANTIZED,
        f"{_WINDOWS.replace('kernel_shape:ints', 'kernel_shape:ints!')} ceil_mode:int "
        "channels_last:int count_include_pad:int",
    ),
    "QLinearConcat": ("Y_scale:F Y_zero_point:Q inputs:W*", "axis:int!"),
    "QGemm": (
        "A:Q1 a_scale:F a_zero_point:Q1 B:Q2 b_scale:F b_zero_point:Q2 C:I? y_scale:F? "
        "y_zero_point:Q3?",
        "alpha:float transA:int transB:int",
    ),
    "DynamicQuantizeMatMul": ("A:F B:Q b_scale:F b_zero_point:Q? bias:F?", ""),
    "DynamicQuantizeLSTM": (
        "X:F W:Q R:Q B:F? sequence_lens:I? initial_h:F? initial_c:F? P:F? W_scale:F "
        "W_zero_point:Q R_scale:F R_zero_point:Q",
        "activation_alpha:floats activation_beta:floats activations:strings clip:float "
        "direction:string hidden_size:int input_forget:int",
    ),
    "MatMulIntegerToFloat": (
        "A:Q1 B:Q2 a_scale:F b_scale:F a_zero_point:Q1? b_zero_point:Q2? bias:F?",
        "",
    ),
    "MatMulNBits": (
        "A:T B:U scales:T zero_points:Z? g_idx:I? bias:T?",
        "K:int! N:int! accuracy_level:int bits:int block_size:int!",
    ),
    "RotaryEmbedding": (
        "input:T position_ids:L cos_cache:T sin_cache:T",
        "interleaved:int is_packed_batching:int num_heads:int rotary_embedding_dim:int scale:float",
    ),
    "Attention": (
        "input:T weights:T bias:T? mask_index:I? past:T? attention_bias:T? past_sequence_length:I?",
        "do_rotary:int mask_filter_value:float num_heads:int! past_present_share_buffer:int "
        "qkv_hidden_sizes:ints rotary_embedding_dim:int scale:float unidirectional:int",
    ),
    "MultiHeadAttention": (
        "query:T key:T? value:T? bias:T? key_padding_mask:I? attention_bias:T? past_key:T? "
        "past_value:T? past_sequence_length:I? cache_indirection:I?",
        "mask_filter_value:float num_heads:int! scale:float unidirectional:int",
    ),
    "GroupQueryAttention": (
        "query:T key:T? value:T? past_key:T? past_value:T? seqlens_k:I total_sequence_length:I "
        "cos_cache:T? sin_cache:T? position_ids:L? attention_bias:T? head_sink:T? k_scale:F? "
        "v_scale:F? q_norm_weight:T? k_norm_weight:T? query_seqlens:I?",
        "causal:int do_rotary:int k_norm_epsilon:float k_quant_type:string kv_cache_bit_width:int "
        "kv_num_heads:int! local_window_size:int num_heads:int! q_norm_epsilon:float "
        "qk_norm_epsilon:float qk_output:int rotary_interleaved:int scale:float "
        "sliding_window_cache:int smooth_softmax:int softcap:float v_quant_type:string",
    ),
}
_OF_ONNX = {  # onnxruntime adds these to ONNX's own domain
    "SimplifiedLayerNormalization": ("X:T1 scale:T2", "axis:int epsilon:float stash_type:int"),
}
_OUTPUTS = {  # how many outputs an operator has, if not one; only the first is required
    "SimplifiedLayerNormalization": 2,
    "SkipLayerNormalization": 4,
    "SkipSimplifiedLayerNormalization": 4,
    "EmbedLayerNormalization": 3,
    "DynamicQuantizeLSTM": 3,
    "Attention": 2,
    "MultiHeadAttention": 4,
    "GroupQueryAttention": 4,
}


@cache
def schemas() -> dict[tuple[str, str], OpSchema]:
    """Return the schemas by domain and operator; all outputs have the type of the first input."""
    tables = {MICROSOFT: _OPERATORS, "": _OF_ONNX}
    return {
        (domain, name): _schema(domain, name, *row)
        for domain, table in tables.items()
        for name, row in table.items()
    }


def _schema(domain: str, name: str, inputs: str, attributes: str) -> OpSchema:
    formals = [_formal(each) for each in inputs.split()]
    kinds = dict.fromkeys(each.type_str for each in formals)
    allowed = [(kind, [f"tensor({each})" for each in _TYPES[kind[0]]]) for kind in kinds]
    return OpSchema(
        name,
        domain,
        1,
        inputs=formals,
        outputs=_outputs(_OUTPUTS.get(name, 1), formals[0].type_str),
        type_constraints=[(kind, types, "") for kind, types in allowed],
        attributes=[_attribute(each) for each in attributes.split()],
    )


def _formal(text: str) -> OpSchema.FormalParameter:
    name, kind = text.split(":")
    options = OpSchema.FormalParameterOption
    if kind.endswith("*"):
        return OpSchema.FormalParameter(
            name, kind[:-1], param_option=options.Variadic, is_homogeneous=False
        )
    option = options.Optional if kind.endswith("?") else options.Single
    return OpSchema.FormalParameter(name, kind.removesuffix("?"), param_option=option)


def _outputs(count: int, kind: str) -> list[OpSchema.FormalParameter]:
    options = OpSchema.FormalParameterOption
    return [
        OpSchema.FormalParameter(
            f"output_{i}", kind, param_option=options.Optional if i else options.Single
        )
        for i in range(count)
    ]


def _attribute(text: str) -> OpSchema.Attribute:
    name, kind = text.split(":")
    type_ = getattr(OpSchema.AttrType, kind.removesuffix("!").upper())
    return OpSchema.Attribute(name, type_, required=kind.endswith("!"))


__all__ = ["schemas"]
