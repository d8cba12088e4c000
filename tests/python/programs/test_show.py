"""Pictures of schedules: the right element in each texel, and the right memory traffic."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import texloom
from texloom import te
from texloom.show.__main__ import main
from texloom.show.svg import text_width

SVG = "{http://www.w3.org/2000/svg}"


def drawn(picture, attribute):
    """Return the words of texts with the given attribute, by the attribute's value."""
    root = ElementTree.fromstring(picture.svg)
    found = {}
    for element in root.iter(f"{SVG}text"):
        if key := element.get(f"data-{attribute}"):
            assert key not in found
            found[key] = element.text
    return found


def copied_into(scope, shape, **options):
    """Return a schedule that copies P into a texture and adds one, and the schedule's tensors."""
    p = te.placeholder(shape, name="P")
    q = te.compute(shape, lambda *index: p(*index) + 1, name="Q")
    s = te.create_schedule(q.op)
    for tensor in (s.cache_read(p, scope, [q], **options), q):
        s[tensor].bind(s[tensor].op.axis[0], te.thread_axis("blockIdx.x"))
    return s, [p, q]


def matmul(shared):
    """Return a product of 8 x 16 x 32 in blocks of 4 x 8, with one element per thread."""
    a, b = te.placeholder((8, 32), name="A"), te.placeholder((32, 16), name="B")
    k = te.reduce_axis((0, 32), name="k")
    c = te.compute((8, 16), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    s = te.create_schedule(c.op)
    cl = s.cache_write(c, "local")
    by, bx, ty, tx = s[c].tile(*s[c].op.axis, 4, 8)
    for axis, tag in zip(
        (by, bx, ty, tx), ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"), strict=True
    ):
        s[c].bind(axis, te.thread_axis(tag))
    s[cl].compute_at(s[c], tx)
    ko, _ = s[cl].split(s[cl].op.reduce_axis[0], 8)
    for tile in [s.cache_read(t, "shared", [cl]) for t in (a, b)] if shared else []:
        s[tile].compute_at(s[cl], ko)
        y, x = s[tile].op.axis
        y, ty = s[tile].split(y, 4)
        x, tx = s[tile].split(x, 8)
        s[tile].bind(ty, te.thread_axis("threadIdx.y"))
        s[tile].bind(tx, te.thread_axis("threadIdx.x"))
    return s, [a, b, c]


@pytest.mark.parametrize(
    ("scope", "shape", "place"),
    [
        ("texture", (2, 3, 4), lambda i, j, k: (i, j, k)),
        ("texture", (2, 3, 7), lambda i, j, k: (i * 3 + j, k // 4, k % 4)),
        ("texture:weight", (2, 3, 2, 4), lambda i, j, k, m: (i, j * 2 + k, m)),
        ("texture:nhwc", (1, 2, 2, 3, 4), lambda n, h, w, c, m: (n * 2 + h, w * 3 + c, m)),
    ],
)
def test_every_element_is_at_its_texel(scope, shape, place):
    texels = drawn(texloom.show(*copied_into(scope, shape), what="textures"), "texel")
    (name,) = {key.split()[0] for key in texels}
    for index in np.ndindex(shape):
        row, column, lane = place(*index)
        assert texels.pop(f"{name} {row} {column} {lane}") == ",".join(map(str, index))
    assert set(texels.values()) <= {"padding"}
    assert len(texels) == (2 * 3 if shape[-1] == 7 else 0)


def test_layout_of_ones_own():
    layout = "texture[(i, j) -> rows=(j/4), cols=(i), lanes=j%4]"
    texels = drawn(texloom.show(*copied_into("texture", (3, 8), layout=layout)), "texel")
    assert texels["P.texture 1 2 3"] == "2,7"


def test_fold_is_shown_where_it_happens():
    s, args = copied_into("texture", (9072, 320, 4))
    picture = texloom.show(s, args, what="textures")
    texels = drawn(picture, "texel")
    assert texels["P.texture 0 319 0"] == "0,319,0"
    assert texels["P.texture 0 320 0"] == "4536,0,0"  # the first column after the fold
    assert texels["P.texture 4535 639 3"] == "9071,319,3"
    assert "row = d0%4536,  column = d0/4536 * 320 + d1,  lane = d2" in picture.svg
    assert len(texels) < 500


def traffic(picture):
    """Return (accesses, bytes) by (verb, buffer)."""
    rows = (key.split() for key in drawn(picture, "traffic"))
    return {(verb, name): (int(n), int(size)) for verb, name, n, size in rows}


def test_traffic_of_a_product():
    direct = traffic(texloom.show(*matmul(shared=False)))
    assert direct == {
        ("reads", "A"): (8 * 16 * 32, 8 * 16 * 32 * 4),
        ("reads", "B"): (8 * 16 * 32, 8 * 16 * 32 * 4),
        ("writes", "C"): (8 * 16, 8 * 16 * 4),
    }


def test_traffic_of_a_product_in_tiles():
    """Each block reads four rows of A and eight columns of B once, through shared memory or not."""
    tiles = traffic(texloom.show(*matmul(shared=True)))
    assert tiles[("reads", "A")] == tiles[("writes", "A.shared")] == (4 * 4 * 32, 4 * 4 * 32 * 4)
    assert tiles[("reads", "B")] == tiles[("writes", "B.shared")] == (4 * 8 * 32, 4 * 8 * 32 * 4)
    assert tiles[("reads", "A.shared")] == (8 * 16 * 32, 8 * 16 * 32 * 4)


def test_traffic_of_texels_is_that_of_whole_texels():
    found = traffic(texloom.show(*copied_into("texture", (2, 3, 4))))
    assert found[("writes", "P.texture")] == (6, 6 * 16)
    assert found[("reads", "P.texture")] == (6, 6 * 16)  # once for all four lanes
    assert found[("writes", "Q")] == (24, 24 * 4)


def words(picture):
    return [e.text for e in ElementTree.fromstring(picture.svg).iter(f"{SVG}text")]


def test_loops_scopes_and_sizes():
    said = words(texloom.show(*matmul(shared=True), what="loops"))
    for label in (
        "main_kernel0",
        "grid 2 × 2, block 8 × 4: 128 threads",
        "blockIdx.y i.outer < 2",
        "threadIdx.x j.inner < 8",
        "for k.outer < 4",
        "C.local: local float32[1, 1]",
        "4 B for each thread",
        "A.shared: shared float32[4, 8]",
        "128 B for each block",
    ):
        assert label in said, label


def test_nothing_is_cut_off_or_overlaps():
    """Every word is inside the picture, and no two words on a line overlap."""
    s, args = copied_into("texture:nhwc", (1, 20, 30, 64))
    root = ElementTree.fromstring(texloom.show(s, args).svg)
    left, top, width, height = map(float, root.get("viewBox").split())
    lines = {}
    for e in root.iter(f"{SVG}text"):
        x, y, wide = (
            float(e.get("x")),
            float(e.get("y")),
            text_width(e.text, int(e.get("font-size"))),
        )
        begin = x - wide / 2 if e.get("text-anchor") == "middle" else x
        assert left <= begin
        assert begin + wide <= left + width
        assert top <= y - 10
        assert y <= top + height
        lines.setdefault(y, []).append((begin, begin + wide))
    for spans in lines.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:], strict=False))


def test_of_a_lowered_program():
    """The loops of a lowered program give the same traffic as its schedule."""
    s, args = matmul(shared=False)
    lowered = texloom.parse(str(texloom.lower(s, args)))
    assert traffic(texloom.show(lowered)) == traffic(texloom.show(s, args))
    assert any(
        w.startswith("threadIdx.x ") and w.endswith(" < 8") for w in words(texloom.show(lowered))
    )


def test_most_where_lanes_are_chosen():
    """The count is an upper bound: it includes lanes past the end of P, which are never read."""
    assert "≤ 12 × 16 B" in words(texloom.show(*copied_into("texture", (2, 3, 7)), what="loops"))


def test_what_is_refused():
    s, args = matmul(shared=False)
    with pytest.raises(ValueError, match="no texture"):
        texloom.show(s, args, what="textures")
    with pytest.raises(ValueError, match="not one of 'all', 'loops', 'textures'"):
        texloom.show(s, args, what="texels")
    loops = texloom.parse(texloom.lower_texts(s, args)["build_loops"])
    for function in (texloom.show, texloom.traffic):
        with pytest.raises(ValueError, match="at stage loops"):
            function(loops)
        with pytest.raises(TypeError, match="pass a list: args="):
            function(s)
        with pytest.raises(TypeError, match="the program has them already"):
            function(texloom.lower(s, args), args)


SCRIPT = """
from texloom import te
A = te.placeholder((8, 4), name="A")
B = te.compute((8, 4), lambda i, j: A[i, j] * 2, name="B")
s = te.create_schedule(B.op)
copy = s.cache_read(A, "texture", [B])
for t in (copy, B):
    s[t].bind(s[t].op.axis[0], te.thread_axis("blockIdx.x"))
if __name__ == "__main__":
    raise SystemExit("not while it is shown")
"""


def run_main(tmp_path, capsys, text, *options, name="script.py"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    status = main([str(path), *options])
    printed = capsys.readouterr()
    return status, printed.out, printed.err.replace(str(tmp_path), "")


def test_command_draws_a_script(tmp_path, capsys):
    status, printed, _ = run_main(tmp_path, capsys, SCRIPT)
    assert status == 0
    assert printed.strip() == str(tmp_path / "script.svg")
    assert "A.texture 0 7 3" in (tmp_path / "script.svg").read_text(encoding="utf-8")


def test_command_draws_a_script_in_another_encoding(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("# coding: latin-1\n# \u00e9\n" + SCRIPT, encoding="latin-1")
    assert main([str(path)]) == 0


def test_command_draws_a_text(tmp_path, capsys):
    s, args = copied_into("texture", (2, 4))
    for text in (str(texloom.program(s, args)), str(texloom.lower(s, args))):
        out = tmp_path / "picture.svg"
        assert run_main(tmp_path, capsys, text, "-o", str(out), name="p.tl")[0] == 0
        assert "P.texture 0 1 3" in out.read_text(encoding="utf-8")


def test_command_imports_modules_beside_the_script(tmp_path, capsys):
    """Modules beside the script can be imported, as under ``python script.py``, from any folder."""
    (tmp_path / "beside_the_script.py").write_text(SCRIPT, encoding="utf-8")
    before = list(sys.path)
    assert run_main(tmp_path, capsys, "from beside_the_script import s\n")[0] == 0
    assert sys.path == before


def test_command_is_a_module():
    command = [sys.executable, "-m", "texloom.show", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "usage: texloom show" in result.stdout


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("x = 1\n", [], "/script.py: the script creates no schedule\n  help: "),
        ("x = 1\ny = x + z\n", [], "/script.py:2: NameError: name 'z' is not defined"),
        ("x = (\n", [], "/script.py:1: SyntaxError"),
        ("raise SystemExit(3)\n", [], "/script.py:1: SystemExit: 3"),
        (SCRIPT + "r = te.create_schedule(B.op)\n", [], "several schedules: s, r\n  help: "),
        (SCRIPT, ["--name", "r"], "no schedule or program is called r: it has s"),
        (SCRIPT, ["--target", "opencl -tubes=4"], "error[TL"),
        (SCRIPT + "s[B].split(B.op.axis[1], factor=-1)\n", [], "error[TL"),
        (SCRIPT.replace("(copy, B)", "(copy,)"), [], "error[TL3003]"),
    ],
)
def test_command_says_what_is_wrong_with_a_script(tmp_path, capsys, text, options, said):
    status, _, printed = run_main(tmp_path, capsys, text, *options)
    assert status == 1
    assert said in printed
    assert "Traceback" not in printed
    assert not (tmp_path / "script.svg").exists()


def test_command_says_what_is_wrong_with_a_file(tmp_path, capsys):
    assert main([str(tmp_path / "none.py")]) == 1
    assert "No such file" in capsys.readouterr().err
    status, _, said = run_main(tmp_path, capsys, "program main stage=tee\n", name="p.tl")
    assert status == 1
    assert re.search(r"error\[TL\d+\].*\n.*p\.tl:1", said)
    (tmp_path / "bytes.tl").write_bytes(b"\xff\xfe\x00")
    assert main([str(tmp_path / "bytes.tl")]) == 1
    assert "not a text file" in capsys.readouterr().err
    status, _, said = run_main(tmp_path, capsys, SCRIPT, "-o", str(tmp_path / "no" / "a.svg"))
    assert status == 1
    assert "a.svg: No such file" in said


def test_long_statements_name_what_they_read():
    """The tooltip shows the whole statement."""
    a = te.placeholder((8, 8), name="A")
    total = a[0, 0]
    b = te.compute((4,), lambda i: sum((a[i, n % 8] for n in range(24)), total) + 0.125, name="B")
    s = te.create_schedule(b.op)
    s[b].bind(b.op.axis[0], te.thread_axis("blockIdx.x"))
    picture = texloom.show(s, [a, b])
    assert "B[…] ← A[…]" in words(picture)
    assert "A[i, 7] + 0.125" in picture.svg


def test_of_loops_whose_extent_is_in_memory():
    """A byte is at most 255; an int32 has no known bound."""
    text = """
program main stage=kernels
  param N: global {dtype}[1]
  param A: global float32[256]
  launch fill(N, A) grid=(1, 1, 1) block=(1, 1, 1)

kernel fill grid=(1, 1, 1) block=(1, 1, 1)
  param N: read global {dtype}[1]
  param A: write global float32[256]
  for i < {extent} {{
    if i < 256 {{
      A[i] = 1.0
    }}
  }}
"""
    byte = texloom.parse(text.format(dtype="uint8", extent="int32(N[0])"))
    assert "≤ 255 × 4 B" in words(texloom.show(byte))
    word = texloom.parse(text.format(dtype="int32", extent="N[0]"))
    assert "unknown" in words(texloom.show(word))
    assert str(texloom.traffic(word)[-1]) == "fill writes A (global): unknown"
