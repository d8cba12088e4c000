"""The text form at every stage: printed text parses back and prints the same."""

import inspect
import re
from pathlib import Path

import pytest

import texloom as tvm
from texloom import examples, te

ROOT = Path(__file__).parents[3]
TL_BLOCK = re.compile(r"^```tl\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def copy(shape, dtype="float32"):
    x = te.placeholder(shape, dtype, name="X")
    y = te.compute(shape, lambda *i: x(*i), name="Y")
    return x, y, te.create_schedule(y.op)


def bound(dtype="float32"):
    x, y, s = copy((16, 8), dtype)
    s[y].bind(s[y].op.axis[0], te.thread_axis("blockIdx.x"))
    return s, [x, y]


def cached(scope):
    x, y, s = copy((6, 5, 9))
    cache = s.cache_read(x, scope, [y])
    s[cache].bind(s[cache].fuse(), te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].fuse(), te.thread_axis("threadIdx.x"))
    return s, [x, y]


def laid_out(scope, layout):
    x, y, s = copy((6, 5, 9))
    cache = s.cache_read(x, scope, [y], layout=layout)
    s[cache].bind(s[cache].op.axis[1], te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].fuse(), te.thread_axis("threadIdx.x"))
    return s, [x, y]


def transformed(scope, indices):
    x, y, s = copy((6, 5, 9))
    cache = s.cache_read(x, scope, [y])
    s[x].transform_layout(lambda h, w, c: [c, h, w])
    loops = s[cache].transform_layout(indices)
    s[cache].bind(loops[0], te.thread_axis("blockIdx.x"))
    s[cache].unroll(s[cache].split(loops[1], factor=2)[1])
    s[y].bind(s[y].fuse(), te.thread_axis("threadIdx.x"))
    return s, [x, y]


def vectors():
    x, y, s = copy((16, 8), "float16")
    outer, inner = s[y].split(s[y].op.axis[1], factor=4)
    s[y].vectorize(inner)
    s[y].unroll(outer)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [x, y]


def odd_split():
    x, y, s = copy((10,))
    outer, inner = s[y].split(s[y].op.axis[0], factor=4)
    s[y].bind(outer, te.thread_axis("blockIdx.x"))
    s[y].bind(inner, te.thread_axis("threadIdx.x"))
    return s, [x, y]


def reduction():
    a = te.placeholder((8, 16), name="A")
    k = te.reduce_axis((0, 16), name="k")
    b = te.compute((8,), lambda i: te.sum(a[i, k] * a[i, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    local = s.cache_write(b, "local")
    s[b].bind(s[b].op.axis[0], te.thread_axis("threadIdx.x"))
    s[local].compute_at(s[b], s[b].op.axis[0])
    return s, [a, b]


def shared_tile():
    x, y, s = copy((8, 32))
    tile = s.cache_read(x, "shared", [y])
    s[y].bind(s[y].op.axis[0], te.thread_axis("blockIdx.x"))
    s[y].bind(s[y].op.axis[1], te.thread_axis("threadIdx.x"))
    s[tile].compute_at(s[y], s[y].op.axis[0])
    s[tile].bind(s[tile].op.axis[1], te.thread_axis("threadIdx.x"))
    return s, [x, y]


def constants():
    x = te.placeholder((4,), "float16", name="for")
    y = te.compute((4,), lambda i: x[i] * te.const(0.1, "float16") + te.exp(x[i]), name="a name")
    s = te.create_schedule(y.op)
    s[y].bind(s[y].op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [x, y]


def convolution(storage):
    data = te.placeholder((1, 2, 9, 8, 4), name="data")
    weight = te.placeholder((2, 8, 3, 3, 4), name="weight")
    output = examples.conv2d_nchw4c(data, weight)
    return examples.schedule_conv2d_nchw4c(output, storage=storage), [data, weight, output]


SCHEDULES = {
    "bound": bound,
    "bool": lambda: bound("bool"),
    "int64": lambda: bound("int64"),
    "texture": lambda: cached("texture"),
    "texture:weight": lambda: cached("texture:weight"),
    "texture:nhwc": lambda: cached("texture:nhwc"),
    "layout": lambda: laid_out(
        "texture", "texture[(h, w, c) -> rows=w, cols=(c, h/4), lanes=h%4, padding=zero]"
    ),
    "layout of a buffer": lambda: laid_out("global", "buffer[(i, j, k) -> cols=(k, i/2, j, i%2)]"),
    "transform": lambda: transformed(
        "texture", lambda h, w, c: [w, h // 4, te.AXIS_SEPARATOR, c, h % 4]
    ),
    "transform of a buffer": lambda: transformed("global", lambda h, w, c: [c * 6 + h, 0, w]),
    "vectors": vectors,
    "odd split": odd_split,
    "reduction": reduction,
    "shared tile": shared_tile,
    "constants": constants,
    "convolution": lambda: convolution("texture"),
}


@pytest.mark.parametrize("make", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_every_stage_comes_back(make):
    texts = tvm.lower_texts(*make())
    rows = {name for name, *_ in tvm._core.passes()}
    assert set(texts) == {name for name in rows if not name.startswith("legalize")}
    for name, text in texts.items():
        assert str(tvm.parse(text)) == text, name


@pytest.mark.parametrize("make", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_a_schedule_that_comes_back_is_lowered_to_the_same_kernels(make):
    program = tvm.program(*make(), target="opencl -device=mali")
    assert program.stage == "te"
    text = program.text(locations=True)
    again = tvm.parse(text)
    assert again.text(locations=True) == text
    assert str(tvm.lower(again)) == str(tvm.lower(program))
    assert tvm.build(again).target == "opencl -device=mali"


def test_a_program_has_its_arguments():
    s, args = bound()
    program = tvm.program(s, args)
    with pytest.raises(tvm.TVMError, match="already has its arguments"):
        tvm.lower(program, args)
    with pytest.raises(TypeError, match="pass a list: args="):
        tvm.lower(s)
    with pytest.raises(tvm.TVMError, match="TL3010.*'main' is at stage kernels"):
        tvm.lower(tvm.lower(s, args))


def test_what_a_directive_refuses_is_refused_in_a_text():
    with pytest.raises(tvm.TVMError) as caught:
        tvm.parse('program p stage=te target="opencl"\nplaceholder A: int8[8]\n  scope local\n')
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.line) == ("TL3009", 3)
    assert "scope local" in diagnostic.text


@pytest.mark.parametrize("make", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_locations_come_back(make):
    text = tvm.lower(*make()).text(locations=True)
    assert ' @"' in text
    assert tvm.parse(text).text(locations=True) == text


def test_origins_come_back():
    x, y, s = copy((6, 8))
    s[y].bind(s[y].op.axis[0], te.thread_axis("blockIdx.x"))
    binds = {x: tvm.decl_buffer((6, 8), scope="texture", name="X", origin=True)}
    for name, text in tvm.lower_texts(s, [x, y], binds=binds).items():
        assert ", origin" in text
        assert str(tvm.parse(text)) == text, name


def test_layouts_of_arguments_come_back():
    x, y, s = copy((6, 8))
    s[y].bind(s[y].op.axis[1], te.thread_axis("blockIdx.x"))
    layout = "texture[(h, w) -> rows=(w), cols=(h/4), lanes=(h%4)]"
    binds = {x: tvm.decl_buffer((6, 8), layout=layout), y: tvm.decl_buffer((6, 8), layout=layout)}
    program = tvm.program(s, [x, y], binds=binds)
    assert str(program).count(f" in texture, layout={layout}\n") == 2
    again = tvm.parse(program.text(locations=True))
    assert again.text(locations=True) == program.text(locations=True)
    assert str(tvm.lower(again)) == str(tvm.lower(program))


def test_errors_have_a_place():
    with pytest.raises(tvm.TVMError) as caught:
        tvm.parse("program p stage=loops\n  for i {\n", "p.tl")
    error = caught.value
    assert error.code == "TL6001"
    assert str(error) == (
        "error[TL6001]: expected '<', found '{'\n"
        "  --> p.tl:2:9\n"
        "   |  for i {\n"
        "   |        ^\n"
        "  help: docs/text_form.md has the grammar"
    )


@pytest.mark.parametrize(
    ("code", "line"),
    [("TL6001", "A[0] == 1.0"), ("TL6002", "A[0] = i"), ("TL6003", "A[8] = 1.0")],
)
def test_each_code(code, line):
    with pytest.raises(tvm.TVMError) as caught:
        tvm.parse(f"program p stage=loops\nparam A: global float32[8]\n{line}\n")
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.file, diagnostic.line) == (code, "<text>", 3)
    assert line in diagnostic.text


BLOCKS = TL_BLOCK.findall((ROOT / "docs/text_form.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_blocks_of_the_document_are_programs(block):
    assert str(tvm.parse(block)) == block


def test_the_document_has_blocks():
    assert len(BLOCKS) == 12


def test_the_document_names_every_word():
    """The grammar in docs/text_form.md names every word that the parsers accept."""
    text = (ROOT / "docs/text_form.md").read_text(encoding="utf-8")
    files = [f"ir/text/{n}" for n in ("parse", "parse_stmt", "parse_expr", "parse_buffer")]
    files += [f"ir/text/{n}" for n in ("parse_layout", "parse_digits")]
    files += ["schedule/text/parse", "schedule/text/parse_directives", "lower/te_text"]
    parser = "".join((ROOT / f"src/{n}.cc").read_text() for n in files)
    words = set(re.findall(r'(?:word|word\.text|name\.text) == "([\w.]+)"', parser))
    words |= set(re.findall(r'(?:at|accept|expect)_word\("([\w.]+)"', parser))
    assert len(words) > 20
    assert {w for w in words if f'"{w}"' not in text} == set()


def test_every_store_names_the_line_of_its_compute():
    """A store keeps its line through inlining, caches, reductions, guards, vectors, unrolling."""
    here = inspect.currentframe().f_lineno
    x = te.placeholder((10, 24), name="X")
    k = te.reduce_axis((0, 24), name="k")
    doubled = te.compute((10, 24), lambda i, j: x[i, j] * 2.0, name="doubled")
    total = te.compute((10,), lambda i: te.sum(doubled[i, k], axis=k), name="total")
    spread = te.compute((10, 8), lambda i, j: total[i] + x[i, j], name="spread")
    s = te.create_schedule(spread.op)
    texture = s.cache_read(x, "texture", [doubled, spread])
    s[doubled].compute_inline()
    s[texture].bind(s[texture].op.axis[0], te.thread_axis("blockIdx.x"))
    outer, inner = s[spread].split(s[spread].op.axis[0], factor=4)
    s[spread].bind(outer, te.thread_axis("blockIdx.x"))
    s[spread].bind(inner, te.thread_axis("threadIdx.x"))
    s[spread].vectorize(s[spread].op.axis[1])
    s[total].compute_at(s[spread], inner)
    s[total].unroll(s[total].split(k, factor=4)[1])
    text = tvm.lower(s, [x, spread]).text(locations=True)

    stores = re.findall(
        r'^ +(?:texture2d\.store\(([\w.]+)|([\w.]+)\[.*\] =).* @"(.*)":(\d+)$', text, re.MULTILINE
    )
    assert len(stores) == len(re.findall(r"\.store\(|\] = ", text))
    lines = {(texture or buffer, path, int(line) - here) for texture, buffer, path, line in stores}
    # The cache has the line of its directive.
    assert lines == {("X.texture", __file__, 7), ("total", __file__, 4), ("spread", __file__, 5)}
