"""Tensors of a random program, scans, and values computed from them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .extents import Extent, Shape
from .loop_directives import Loop, StageLoops
from .regions import Region


@dataclass(frozen=True)
class Tile:
    """The tile of an intrinsic: extents of the last axes and of the reduction."""

    data: tuple[int, ...]
    reduction: tuple[int, ...]
    intrinsic: str  # the intrinsic's variable; empty if the tile's loops remain
    called: bool  # by the compute, whose axes are then those of tiles
    text: str = ""  # the variable of the C text with the intrinsic's statement


@dataclass
class Part:
    """A compute of the scan: an init, an update, or a stage of the step."""

    var: str
    columns: Shape  # the shape without the rows
    reads: list[str]  # the states and the source that it reads
    reductions: list[Extent] = field(default_factory=list)


@dataclass
class State:
    """One recurrence."""

    var: str
    init: Part
    update: Part
    middle: Part | None


@dataclass
class Scan:
    """The facts about a scan that its schedule needs."""

    var: str  # the variable of one of the scan's results
    states: list[State]
    source: Stage
    is_constant: bool


@dataclass(frozen=True)
class FragmentTile:
    """How blocks and SIMD-groups divide a product; numbers of fragments."""

    parts: tuple[int, int]  # of a SIMD-group, along rows and columns
    groups: tuple[int, int]  # SIMD-groups of a block
    depth: int  # along the steps that a block fetches together
    slices: int = 1  # of these steps, for groups of SIMD-groups
    pieces: int = 1  # of all steps, for blocks

    @property
    def multiples(self) -> tuple[int, int, int]:
        """Rows, columns and steps of a tile, which matrices end with."""
        down, across = (16 * n * k for n, k in zip(self.parts, self.groups, strict=True))
        return down, across, 16 * self.depth * self.pieces


@dataclass(frozen=True)
class Product:
    """A sum of products, which SIMD-groups compute by fragments."""

    sums: str  # the variable of the sum; the kernel may write a stage that reads it
    rows: tuple[str, ...]  # axes of the sum, as the other two
    columns: tuple[str, ...]
    steps: tuple[str, ...]
    extents: tuple[int, int, int]  # of the matrices: rows, columns, steps
    written: tuple[tuple[int, ...], int]  # the positions of rows and of columns in the result
    inlined: tuple[str, ...]  # stages whose expressions become those of the matrices
    tile: FragmentTile
    loads: tuple[bool, bool] = (False, False)  # fragments from the factors, not from shared memory
    stores: bool = False  # fragments to the result, not to shared memory


@dataclass(eq=False)
class Stage:
    """A tensor of the script, with the place where its stage is computed."""

    var: str
    shape: Shape
    dtype: str
    inputs: list[Stage] = field(default_factory=list)
    reductions: list[Extent] = field(default_factory=list)
    magnitude: float = 8  # no value is larger, unless it wrapped
    region: Region | None = None  # the elements that have a value, if not all
    outside: bool = False  # may read outside of a tensor, for elements without a value
    is_input: bool = False
    is_output: bool = False
    is_cache: bool = False
    is_extern: bool = False  # computed by a statement, which binds its own threads
    scan: Scan | None = None  # the scan that computes the tensor
    product: Product | None = None  # what its kernel computes by fragments
    tile: Tile | None = None
    row_major: bool = False  # an intrinsic relies on this layout
    read_whole: bool = False  # every element is read, by a reader that must not be inlined
    conditional: bool = False  # a reduction that leaves steps out
    factored: bool = False  # combines the partial results of rfactor
    several: bool = False  # one of several outputs of an operation
    line: int = -1  # the script's line with the cache's directive and {scope}
    narrow: bool = False  # a cache_write, whose scope must be local or shared
    scope: str = ""  # the memory scope of a root stage
    bound_scope: str = ""  # the memory scope that binds= gives
    inlined: bool = False
    transformed: int = 0  # number of axes that transform_layout made; 0 without it
    host: Stage | None = None
    loops: StageLoops | None = None
    attached_scope: str = ""  # the memory scope of an attached stage
    ahead: bool = False  # computed ahead of the iteration that reads it
    enclosing: list[tuple[Stage, Loop]] = field(default_factory=list)

    @property
    def readable(self) -> Shape:
        """The extents of the elements that have a value."""
        return self.shape if self.region is None else self.region.shape

    @property
    def first(self) -> list[int]:
        """The first index of `readable` along each axis; empty if all are 0."""
        return [] if self.region is None else self.region.first

    def limited_to(self, region: Region, outside: bool) -> Stage:
        """Mark only the region as having values, and return the stage.

        `outside`: the stage reads past the ends of its inputs.
        """
        if region.first:
            self.region, self.outside = region, outside
        return self

    @property
    def texture(self) -> bool:
        """Whether the stage's result is in an image."""
        return "texture" in self.scope + self.bound_scope

    @property
    def fits_texture(self) -> bool:
        """Whether textures support the stage's element type and number of axes."""
        is_texel = self.dtype not in ("float64", "int64", "uint64", "bool")
        is_texel = is_texel and not self.row_major
        return is_texel and 1 <= len(self.shape) <= 6

    @property
    def has_own_kernels(self) -> bool:
        """Whether the stage cannot be attached, and no stage can be attached to it."""
        return self.is_extern or self.scan is not None or self.product is not None

    def path(self) -> list[tuple[Stage, Loop]]:
        """The loops that enclose the stage's value; the stage's own loops are last."""
        own = [] if self.loops is None else self.loops.loops
        return self.enclosing + [(self, loop) for loop in own]

    def root(self) -> Stage:
        """The stage whose kernel computes this stage."""
        return self if self.host is None else self.host.root()


@dataclass(frozen=True)
class Value:
    """An expression, with a bound of its magnitude and the stages it reads."""

    text: str
    magnitude: float
    inputs: list[Stage]
    outside: bool = False  # may read outside of a tensor, where nothing is computed


def union(a: list[Stage], b: list[Stage]) -> list[Stage]:
    """Return the stages of both lists, without duplicates."""
    return a + [s for s in b if s not in a]
