"""Spaces of AutoTVM: how many values knobs have, in which order, and what they do to a schedule."""

import itertools
import json
import math

import pytest

import texloom
from texloom import te
from texloom.autotvm.task.space import (
    ConfigEntity,
    ConfigSpace,
    FallbackConfigEntity,
    OtherOptionEntity,
)
from texloom.errors import TVMError


@pytest.mark.parametrize(
    ("extent", "policy", "count"),
    [
        (256, "factors", 45),
        (256, "power2", 45),
        (256, "verbose", 45),
        (224, "factors", 63),
        (224, "power2", 36),
        (224, "verbose", 84),
    ],
)
def test_policies_of_splits(extent, policy, count):
    """The numbers are those of TVM's own test of splits."""
    cfg = ConfigSpace()
    cfg.define_split("tile", cfg.axis(extent), policy=policy, num_outputs=3)
    knob = cfg.space_map["tile"]
    assert len(knob) == len({tuple(each.size) for each in knob.entities}) == count
    divides = [extent % math.prod(each.size[1:]) == 0 for each in knob.entities]
    assert all(divides) == (policy == "factors" or extent == 256)
    assert repr(knob) == f"Split(policy={policy}, product={extent}, num_outputs=3) len={count}"


def test_splits_into_many_loops_are_not_listed_wrongly():
    n = 25
    cfg = ConfigSpace()
    cfg.define_split("x", cfg.axis(2**n), policy="factors", num_outputs=4)
    assert len(cfg.space_map["x"]) == math.comb(n + 3, 3)


def test_the_order_of_splits_and_configurations():
    """Numbers of configurations in logs depend on it: inner loops change last."""
    cfg = ConfigSpace()
    cfg.define_split("a", 4, num_outputs=3)
    cfg.define_knob("b", ["x", "y"])
    sizes = [each.size for each in cfg.space_map["a"].entities]
    assert sizes == [[-1, 1, 1], [-1, 2, 1], [-1, 4, 1], [-1, 1, 2], [-1, 2, 2], [-1, 1, 4]]
    assert len(cfg) == cfg.range_length == 12 and cfg["a"].size == [-1, 1, 1]
    entity = cfg.get(7)
    assert entity["a"].size == [-1, 2, 1] and entity["b"].val == "y"
    assert repr(entity) == "[('a', [-1, 2, 1]), ('b', y)],None,7"
    assert cfg.config_of(entity.point).index == 7
    assert repr(cfg) == (
        "ConfigSpace (len=12, space_map=\n"
        "   0 a: Split(policy=factors, product=4, num_outputs=3) len=6\n"
        "   1 b: OtherOption([x, y]) len=2\n"
        ")"
    )
    with pytest.raises(IndexError, match="Index out of range: size 12, got index 12"):
        cfg.get(12)


def test_limits_of_splits():
    cfg = ConfigSpace()
    cfg.define_split("a", 64, num_outputs=2, max_factor=8)
    assert [each.size for each in cfg.space_map["a"].entities] == [[-1, 1 << n] for n in range(4)]
    cfg.define_split("b", 64, num_outputs=2, filter=lambda entity: entity.size[-1] >= 16)
    assert [each.size[1] for each in cfg.space_map["b"].entities] == [16, 32, 64]
    cfg.define_split("c", 64, policy="candidate", candidate=[[-1, 3], [-1, 5]])
    assert [each.size for each in cfg.space_map["c"].entities] == [[-1, 3], [-1, 5]]
    cfg.define_split("d", 6, policy="power2", num_outputs=2, no_tail=True)
    assert [each.size[1] for each in cfg.space_map["d"].entities] == [1, 2]


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (lambda c: c.define_split("a", 8, policy="halves", num_outputs=2), "no policy 'halves'"),
        (lambda c: c.define_split("a", 8), "a loop of extent 8 is split into 0"),
        (lambda c: c.define_split("a", "8", num_outputs=2), "but str is given"),
        (lambda c: c.define_split("a", 8, num_outputs=2, filter=lambda _: False), "has no values"),
        (lambda c: c.define_knob("a", []), "the knob 'a' has no values"),
        (lambda c: c.define_reorder("a", [1, 2], "any"), "no policy 'any' of orders"),
        (lambda c: c.define_annotate("a", [1], "any"), "no policy 'any' of annotations"),
        (lambda c: c.define_annotate("a", [1, 2, 3], "bind_gpu"), "but 3 loops are given"),
        (
            lambda c: c.define_split("a", 8, policy="candidate", num_outputs=2, candidate=[[1]]),
            "has not the 2 extents of num_outputs",
        ),
    ],
)
def test_wrong_knobs_are_refused(define, message):
    with pytest.raises(TVMError, match=f"TL2040.*{message}"):
        define(ConfigSpace())


def test_orders():
    cfg = ConfigSpace()
    y, x, k = cfg.axis(8), cfg.axis(4), cfg.reduce_axis(2)
    cfg.define_reorder("same", [y, x, k], "identity")
    cfg.define_reorder("all", [y, x, k], "all")
    cfg.define_reorder("inner", [y, x, k], "interval_all", interval=(1, 3))
    cfg.define_reorder("some", [y, x, k], "candidate", candidate=[[k, y, x], [y, k, x]])
    yo, yi = cfg.define_split("tile", y, num_outputs=2)
    ko, ki = cfg.define_split("steps", k, num_outputs=2)
    merged = cfg.define_reorder(
        "merged", [yo, yi, ko, ki], "interleave", spatial=[[yo, yi]], reduce=[[ko, ki]]
    )
    orders = {
        name: [each.perm for each in own.entities]
        for name, own in cfg.space_map.items()
        if name not in ("tile", "steps")
    }
    assert orders["same"] == [[0, 1, 2]] and len(merged) == 4
    assert orders["all"] == [list(each) for each in itertools.permutations(range(3))]
    assert orders["inner"] == [[0, 1, 2], [0, 2, 1]]
    assert orders["some"] == [[2, 0, 1], [0, 2, 1]]
    assert orders["merged"] == [[0, 1, 2, 3], [0, 2, 1, 3], [0, 2, 3, 1]]
    assert repr(cfg.space_map["all"]) == "Reorder(policy=all) len=6"


def staged():
    a = te.placeholder((8, 4), name="A")
    c = te.compute((8, 4), lambda i, j: a[i, j] + 1.0, name="C")
    return te.create_schedule(c.op), a, c


def directives(s, a, c):
    text = str(texloom.program(s, [a, c], target="llvm"))
    return [
        line.strip() for line in text.splitlines() if line.startswith("  ") and "param" not in line
    ]


def test_what_knobs_do():
    s, a, c = staged()
    cfg = ConfigSpace()
    axes = [cfg.axis(each) for each in c.op.axis]
    assert [(each.name, each.length) for each in axes] == [("i", 8), ("j", 4)]
    cfg.define_split("tile", c.op.axis[0], num_outputs=3)
    cfg.define_reorder("order", [*axes, axes[0], axes[1]], "all")
    cfg.define_annotate("how", axes[:2], "try_unroll_vec")
    assert len(cfg.space_map["how"]) == 9
    entity = cfg.config_of({"tile": [-1, 2, 2], "order": [1, 0, 3, 2], "how": ["unroll", "vec"]})
    loops = entity["tile"].apply(s, c, c.op.axis[0])
    assert len(loops) == 3
    ordered = entity["order"].apply(s, c, [*loops, c.op.axis[1]])
    entity["how"].apply(s, c, [ordered[2], ordered[3]])
    assert directives(s, a, c)[1:] == [
        "split i factor=4 -> i.outer, i.inner",
        "split i.inner factor=2 -> i.inner.outer, i.inner.inner",
        "reorder i.inner.outer, i.outer, j, i.inner.inner",
        "unroll j",
        "vectorize i.inner.inner",
    ]


def test_annotations():
    cfg = ConfigSpace()
    axes = [cfg.axis(4) for _ in range(6)]
    cfg.define_annotate("bind", axes[:4], "bind_gpu")
    cfg.define_annotate("virtual", axes[:6], "bind_gpu_virtual")
    cfg.define_annotate("unroll", axes[:2], "try_unroll")
    cfg.define_annotate("at", axes[:3], "locate_cache", num_anchor=2)
    cfg.define_annotate("given", axes[:2], "candidate", candidate=[["none", "vec"]])
    assert cfg["bind"].anns == ["blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"]
    assert cfg["virtual"].anns[2:4] == ["vthread", "vthread"]
    assert [len(cfg.space_map[name]) for name in ("unroll", "at", "given")] == [4, 9, 1]
    s, a, c = staged()
    loops = [*cfg_split(s, c, 0), *cfg_split(s, c, 1)]
    cfg["bind"].apply(s, c, [loops[0], loops[2], loops[1], loops[3]])
    assert directives(s, a, c)[-4:] == [
        "bind i.outer blockIdx.y",
        "bind i.inner threadIdx.y",
        "bind j.outer blockIdx.x",
        "bind j.inner threadIdx.x",
    ]
    s, a, c = staged()
    cache = s.cache_read(a, "local", [c])
    cfg.config_of({**cfg.get(0).point, "at": (1, 0)})["at"].apply(
        s, c, list(c.op.axis), source=[[cache], []]
    )
    assert any("compute_at" in each and "j" in each for each in directives(s, a, c))


def cfg_split(s, c, place):
    return s[c].split(c.op.axis[place], factor=2)


def test_limits_of_annotations_make_a_configuration_invalid():
    s, _, c = staged()
    cfg = ConfigSpace()
    cfg.define_annotate("how", list(c.op.axis), "candidate", candidate=[["unroll", "vec"]])
    entity = cfg.get(0)
    entity["how"].apply(
        s, c, list(c.op.axis), axis_lens=[8, 4], max_unroll=8, vec_size=[4], cfg=entity
    )
    assert entity.valid()
    s, _, c = staged()
    entity["how"].apply(
        s, c, list(c.op.axis), axis_lens=[8, 4], max_unroll=4, vec_size=[2], cfg=entity
    )
    assert entity.errors == [
        "Too large factor for unrolling",
        "Wrong size of lanes in vectorization",
    ]


def test_configurations_are_values_of_json():
    cfg = ConfigSpace()
    cfg.define_split("a", 8, num_outputs=2)
    cfg.define_reorder("b", [1, 2], "all")
    cfg.define_annotate("c", [1], "try_vec")
    cfg.define_knob("d", [None, True, "x", 1.5])
    for index in range(len(cfg)):
        entity = cfg.get(index)
        read = ConfigEntity.from_json_dict(json.loads(json.dumps(entity.to_json_dict())))
        assert str(read) == str(entity) and read.index == index
        assert cfg.config_of(read.point).index == index
    assert entity.get_other_option() == {"d": 1.5}
    assert len(entity.get_flatten_feature()) == 6
    with pytest.raises(ValueError, match="it is no configuration"):
        ConfigEntity.from_json_dict({"index": 0, "entity": []})
    with pytest.raises(TVMError, match="the space has no configuration"):
        cfg.config_of({"a": [-1, 3]})


def test_a_log_need_not_say_what_knobs_are():
    entity = ConfigEntity(0, None, {"a": OtherOptionEntity([-1, 4])})
    assert [each.index for each in entity.define_split("a", 8, num_outputs=2)] == [0, 1]
    assert entity["a"].size == [-1, 4]


def test_filters():
    cfg = ConfigSpace()
    cfg.define_split("x", 128, num_outputs=2)
    cfg.define_split("y", 128, num_outputs=2)
    assert len(cfg) == 64
    cfg.multi_filter(lambda entity: 8 <= entity["x"].size[1] * entity["y"].size[1] < 1024)
    assert len(cfg) == 43 and cfg.range_length == 64
    assert sum(map(cfg.is_index_valid, range(64))) == 43 and not cfg.is_index_valid(64)


def test_fallback():
    def split(extent, constraints):
        cfg = FallbackConfigEntity()
        cfg.define_split("tile", cfg.axis(extent), num_outputs=3)
        assert cfg.is_fallback and cfg["tile"].size == [-1, 1, 1]
        cfg.fallback_split("tile", constraints)
        return cfg["tile"].size

    assert split(128, [-1, 8, 4]) == [4, 8, 4]
    assert split(49, [-1, 8, 4]) == [7, 7, 1]
    with pytest.raises(RuntimeError, match="Cannot find feasible fallback split"):
        split(49, [-1, 1, 0])
    with pytest.raises(TVMError, match="fallback_split has 2 limits"):
        split(49, [-1, 1])
    cfg = FallbackConfigEntity()
    cfg["knob"] = OtherOptionEntity(3)
    assert cfg["knob"].val == 3
