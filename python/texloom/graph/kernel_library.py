"""The library of kernels, for passes over graphs that depend on the target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, prod

from .. import _core, te
from .._core import TargetValue, Tensor
from ..dtypes import bytes_of
from ..errors import TVMError
from ..extents import are_known, collected, shape_of
from ..ops import products
from ..ops.attention import (
    BlockTile,
    FragmentBlock,
    Heads,
    KeySlices,
    Sizes,
    Tile,
    attention,
    weighted_values,
)
from ..ops.attention import scores as head_scores
from ..ops.contraction import Contraction
from ..ops.moves import Moved
from ..ops.normalization import (
    epsilon_of,
    group_normalization,
    instance_normalization,
    masked_softmax,
    softmax,
)
from ..ops.normalization.channels import GROUPED
from ..ops.precision import sum_dtype
from ..ops.schedules.families import KernelKind, least_seconds
from ..ops.schedules.family import KernelTask
from ..ops.schedules.gpu import attention as gpu_attention
from ..ops.schedules.gpu import chains, separable
from ..ops.schedules.group_moments import parts_for
from ..ops.schedules.processor import attention as processor_attention
from ..ops.schedules.processor.registers import Registers
from ..ops.stages import stages_of
from ..profiles import profile_of

_LEAST_GAIN = 1.1
"""How much faster two kernels must be than one: launches of networks take longer than those of
kernels in a row, by which profiles state them."""
_MOST_WIDTH = 256
"""The most columns of values of attention on processors, whose loops over them are unrolled."""


@dataclass(frozen=True)
class KernelLibrary:
    """The schedules of :mod:`texloom.ops.schedules` for a target.

    Attributes
    ----------
    target : TargetValue
    """

    target: TargetValue

    def is_faster_joined(
        self, first: _core._Computation, second: _core._Computation, number: int
    ) -> bool:
        """Whether one kernel for two computations is possible, and estimated to be faster.

        `first` is a depthwise convolution, or scales the channels of an image, and `second` is a
        convolution; or both are products of few rows. `second` reads the result of `first` as its
        input `number`.
        """
        reader = _Convolution.of(second)
        if reader is None or reader.data != number:
            return False
        if _scales_channels(first):
            return self._is_faster_scaled(first, reader)
        producer = _Convolution.of(first)
        if producer is None:
            return False
        pair = [(each.sums, each.output) for each in (producer, reader)]
        if chains.is_faster_joined(pair[0], pair[1], self.target):
            return True
        joined = separable.joined_seconds(pair[0], pair[1], self.target)
        if joined == inf:
            return False
        return joined < _LEAST_GAIN * sum(map(self._seconds_of, (producer, reader))) < inf

    def _is_faster_scaled(self, first: _core._Computation, reader: _Convolution) -> bool:
        """Whether a convolution is estimated to scale its image faster than another kernel."""
        if self.target.is_cpu or not reader.is_of_elements:
            return False
        (scaled,) = first.outputs
        if not are_known(shape_of(scaled)):
            return True
        moved = 2 * prod(map(int, shape_of(scaled))) * bytes_of(scaled.dtype)
        profile = profile_of(self.target)
        scale = profile.launch_seconds + moved / profile.memory_rate
        joined = self._seconds_of(reader, of_computed=True)
        return joined <= _LEAST_GAIN * (self._seconds_of(reader) + scale)

    def _seconds_of(self, convolution: _Convolution, of_computed: bool = False) -> float:
        """Return the estimated seconds of a convolution alone, with channels last."""
        task = KernelTask.of_sums(convolution.sums, convolution.output, self.target)
        return least_seconds(KernelKind.CONVOLUTION, task, of_computed=of_computed)

    @property
    def has_channels_last(self) -> bool:
        """Whether images of convolutions have channels last.

        They have on GPUs whose shared memory is their own; others prefer textures.
        """
        return not self.target.is_cpu and profile_of(self.target).has_fast_shared_memory

    @property
    def moves_operands(self) -> bool:
        """Whether kernels for attention read moved operands in place, and write moved results."""
        return not self.target.is_cpu

    def product_of_rows(self, computation: _core._Computation) -> _core._Computation | None:
        """Return a product of matrices with the same right factor as one of all their rows.

        None for other computations. Kernels of processors divide rows of any axes, but not
        matrices of one row.
        """
        if len(computation.inputs) != 2 or len(computation.inputs[0].shape) < 3:
            return None
        left, right = computation.inputs
        *batch, rows, shared = shape_of(left)
        if len(right.shape) != 2 or not are_known((*batch, rows, shared)):
            return None
        if self.target.is_cpu and rows != 1:
            return None
        count = prod(map(int, batch))
        if count == 1:
            return None
        if not _computes(products.matmul, computation):
            return None
        matrix = te.placeholder((count * int(rows), shared), left.dtype, name="in0")
        return _core._Computation([matrix, right], [products.matmul(matrix, right)])

    def normalization_before(
        self, computation: _core._Computation, shape: Sequence[int]
    ) -> _core._Computation | None:
        """Return a normalization of the rows of a view as one of groups of an image's channels.

        Parameters
        ----------
        computation : _Computation
            For other computations than :func:`.instance_normalization`, the result is None.
        shape : sequence of int
            ``[N, C, ...]`` of the tensor of which the input of `computation` is a view.
        """
        rows, *parameters = computation.inputs
        if self.target.is_cpu or len(shape) < 3 or len(rows.shape) < 2 or len(parameters) != 2:
            return None
        batch, groups = (int(extent) for extent in rows.shape[:2])
        if shape[0] != batch or shape[1] % groups:
            return None
        epsilon = epsilon_of(stages_of(computation.outputs))
        if epsilon is None or not _computes(
            partial(instance_normalization, epsilon=epsilon), computation
        ):
            return None
        x = te.placeholder(tuple(shape), rows.dtype, name="in0")
        made = group_normalization(x, *parameters, groups=groups, epsilon=epsilon)
        return _core._Computation([x, *parameters], [made])

    def moments_in_parts(self, computation: _core._Computation) -> _core._Computation | None:
        """Return a normalization of groups of channels with the moments of parts of the groups.

        None for other computations than :func:`.group_normalization`, and where a block has a group
        of its own.
        """
        stages = stages_of(computation.outputs)
        grouped = next((each for each in stages if each.op.tag == GROUPED), None)
        total = next((each for each in stages if each.op.reduce_axis), None)
        epsilon = epsilon_of(stages)
        if grouped is None or total is None or epsilon is None:
            return None
        parts = parts_for(grouped, total, self.target)
        if parts == 1:
            return None
        made = partial(group_normalization, groups=int(grouped.shape[1]), epsilon=epsilon)
        if not _computes(made, computation):
            return None
        inputs = computation.inputs
        return _core._Computation(inputs, [made(*inputs, parts=parts)])

    def attention(
        self,
        scores: _core._Computation,
        weights: _core._Computation,
        product: _core._Computation,
        inputs: Sequence[Tensor],
        operands: Sequence[Tensor],
        scale: float,
        factor: float,
        axes: Sequence[int],
        hides_nan: bool,
        stored: Sequence[str],
    ) -> _core._Computation | None:
        """Return attention as one kernel.

        Parameters
        ----------
        scores, weights, product : _Computation
            The candidates: the product of queries and keys, its softmax over the last axis, and the
            product of the softmax with the values; products of matrices or of heads. For other
            computations, the result is None.
        inputs : sequence of Tensor
            Placeholders.
        operands : sequence of Tensor
            The queries, the keys, the values, and masks: placeholders, or stages that move their
            elements.
        scale : float
            The factor of the scores, before masks are added.
        factor : float
            The factor of the queries.
        axes : sequence of int
            The axes of `product` that the axes of the result are; if empty, the same.
        hides_nan : bool
            Whether NaN in the softmax is replaced by 0.
        stored : sequence of str
            The types in which the inputs are stored. The kernel multiplies float16, by matrix
            units, if queries, keys and values are stored as such.
        """
        is_masked = not _computes(softmax, weights)
        if is_masked and not _computes(masked_softmax, weights):
            return None
        heads, is_merged = None, len(product.outputs[0].shape) == 3
        if not (_computes(products.matmul, scores) and _computes(products.matmul, product)):
            heads = _heads(scores, operands[1])
            if heads is None or not _is_over_heads(scores, product, heads, is_merged):
                return None
        multiplied = operands[:3]
        tile = self._attention_tile(multiplied, _stored_types(inputs, multiplied, stored), heads)
        if tile is None:
            return None
        made = attention(
            *operands,
            tile=tile,
            scale=scale,
            factor=factor,
            heads=heads,
            is_merged=is_merged,
            is_masked=is_masked,
            hides_nan=hides_nan,
            axes=list(axes) or None,
        )
        return _core._Computation(list(inputs), [made])

    def _attention_tile(
        self, operands: Sequence[Tensor], stored: Sequence[str], heads: Heads | None
    ) -> Tile | BlockTile | FragmentBlock | KeySlices | None:
        """Return the tile for the types of queries, keys and values in memory.

        None if separate kernels are faster.
        """
        query, key, value = operands
        sizes = Sizes.of(query, key, value, heads)
        if not self.target.is_cpu:
            return gpu_attention.tile_for(sizes, stored, self.target, heads)
        if sizes.width > _MOST_WIDTH:
            return None
        facts = processor_attention.Attention(
            prod(sizes.batch),
            sizes.rows,
            sizes.keys,
            sizes.width,
            8 if sum_dtype(query.dtype) == "float64" else 4,
            Registers.of(self.target),
        )
        return processor_attention.ATTENTION.best(facts, profile_of(self.target))


def _stored_types(
    inputs: Sequence[Tensor], operands: Sequence[Tensor], stored: Sequence[str]
) -> list[str]:
    """Return the types in which operands are stored, given those of the inputs that they move."""
    of = {each.op: dtype for each, dtype in zip(inputs, stored, strict=True)}
    return [of[Moved.of(each).source.op] for each in operands]


def _heads(scores: _core._Computation, key: Tensor) -> Heads | None:
    """Return the numbers of heads of queries and keys; None if the tensors have no such axis."""
    (made,) = scores.outputs
    if len(made.shape) != 4 or len(key.shape) != 4:
        return None
    return Heads(int(made.shape[1]), int(key.shape[1]))


def _is_over_heads(
    scores: _core._Computation, product: _core._Computation, heads: Heads, is_merged: bool
) -> bool:
    """Whether two computations are the products of attention over heads."""
    dtype = product.outputs[0].dtype
    sums = partial(weighted_values, heads=heads, dtype=dtype, is_merged=is_merged)
    return _computes(partial(head_scores, heads=heads), scores) and _computes(sums, product)


def _computes(function: Callable[..., Tensor], computation: _core._Computation) -> bool:
    """Whether a computation equals the one that `function` makes from the same inputs."""
    inputs = computation.inputs
    try:
        with collected():
            made = function(*inputs)
    except (ValueError, TVMError):  # the function refuses these inputs
        return False
    return bool(_core._Computation(inputs, [made]) == computation)


def _scales_channels(computation: _core._Computation) -> bool:
    """Whether a computation multiplies an image by factors of its channels."""
    (output,) = computation.outputs
    output = _unconverted(output)
    if not isinstance(output.op, te.ComputeOp) or output.op.reduce_axis:
        return False
    sources = [_unconverted(each) for each in output.op.input_tensors]
    if not all(isinstance(each.op, te.PlaceholderOp) for each in sources):
        return False
    body, rank = output.op.body[0], len(output.shape)
    if body._class != "Mul" or {body.a._class, body.b._class} != {"ProducerLoad"} or rank < 3:
        return False
    own = [axis.var for axis in output.op.axis]
    counts = []
    for load in (body.a, body.b):
        shape, indices = shape_of(load.producer), list(load.indices)
        if len(indices) != rank or not are_known(shape):
            return False
        for index, variable, extent in zip(indices, own, shape, strict=True):
            if extent != 1 and not index.same_as(variable):
                return False
        counts.append(prod(map(int, shape[2:])))
    return min(counts) == 1


def _unconverted(tensor: Tensor) -> Tensor:
    """Return the tensor of which a stage only converts the type, or the tensor itself."""
    op = tensor.op
    if not isinstance(op, te.ComputeOp) or op.reduce_axis or op.body[0]._class != "Cast":
        return tensor
    load = op.body[0].value
    if load._class != "ProducerLoad" or len(load.indices) != len(op.axis):
        return tensor
    is_own = all(i.same_as(axis.var) for i, axis in zip(load.indices, op.axis, strict=True))
    return load.producer if is_own else tensor


@dataclass(frozen=True)
class _Convolution:
    """A computation with one sum of products.

    Attributes
    ----------
    sums, output : Tensor
        The sums, and the output that is computed from them.
    data : int or None
        The number of the input whose elements the sums read; None if the sums read several inputs.
    """

    sums: Tensor
    output: Tensor
    data: int | None

    @property
    def is_of_elements(self) -> bool:
        """Whether each window is one pixel, and each pixel has a window."""
        return len(self.sums.shape) < len(self.output.shape)

    @classmethod
    def of(cls, computation: _core._Computation) -> _Convolution | None:
        """Return the convolution of a computation; None unless it has one sum of products."""
        (output,) = computation.outputs
        sums = [each for each in stages_of([output]) if Contraction.of(each) is not None]
        if len(sums) != 1:
            return None
        pixels = sums[0].op.input_tensors[0]
        while len(pixels.op.input_tensors) == 1:
            (pixels,) = pixels.op.input_tensors
        data = next((i for i, p in enumerate(computation.inputs) if p.op == pixels.op), None)
        return cls(sums[0], output, data)


__all__ = ["KernelLibrary"]
