"""The facts that a proof of a lower bound may use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .network import Buffer, Network, Step, Tensor, require
from .orders import earlier_of


class Relaxation:
    """The facts a proof may use: sizes and lifetimes of items, and pairs that share no image."""

    def __init__(self, network: Network, reorder: bool) -> None:
        self.network = network
        if reorder:
            self.live = self._always_live(network.steps)
        else:
            self.live = {key: frozenset((item.first, item.last)) for key, item in self._items()}
        self.reorder = reorder

    def _items(self) -> Iterable[tuple[int, Tensor | Buffer]]:
        return (self.network.tensors | self.network.buffers).items()

    def size(self, key: int) -> int:
        """Return the texels (or bytes) of the smallest fold that the limits allow."""
        network, tensor = self.network, self.network.tensors[key]
        most = min(tensor.slices, network.max_width // tensor.width)
        if network.views and tensor.must_be_exact:
            most = min(most, 1)
        sizes = [
            network.views.size(tensor, width, height) if network.views else width * height
            for width, height in map(tensor.folded, tensor.narrow_folds(most))
            if height <= network.max_height
        ]
        require(sizes, f"item {tensor.id} fits in no image")
        return min(sizes)

    def _always_live(self, steps: Sequence[Step]) -> dict[int, frozenset[int]]:
        """Return the operators at which an item is live in every order."""
        reach: list[int] = []  # for each operator, itself and what must run before it, as bits
        earlier = earlier_of(steps)
        for number, others in enumerate(earlier):
            bits = 1 << number
            for other in others:
                bits |= reach[other]
            reach.append(bits)
        users: dict[int, list[int]] = {
            key: [] for key in self.network.tensors | self.network.buffers
        }
        for number, step in enumerate(steps):
            for key in step.inputs | step.outputs:
                users[key].append(number)
        result = {}
        for key, numbers in users.items():
            below = sum(1 << number for number in numbers)
            ahead = 0  # the users and all that must run before one of them
            for number in numbers:
                ahead |= reach[number]
            # The network lists operators in an order that is allowed, so they lie between users.
            between = range(numbers[0], numbers[-1] + 1)
            result[key] = frozenset(n for n in between if reach[n] & below and ahead >> n & 1)
        return result

    def together(self, a: int, b: int) -> bool:
        """Return whether two items are live at one time (in every order, for a reorder proof)."""
        if self.reorder:
            return bool(self.live[a] & self.live[b])
        s, t = self.network.tensors[a], self.network.tensors[b]
        return s.first <= t.last and t.first <= s.last

    def apart(self, a: int, b: int) -> bool:
        """Return whether no plan puts the two items in one image."""
        if frozenset((a, b)) in self.network.pairs:
            return True
        if self.network.views:
            return False
        s, t = self.network.tensors[a], self.network.tensors[b]
        if s.format != t.format:
            return True
        for one, other in ((s, t), (t, s)):
            if not one.must_be_exact:
                continue
            if other.must_be_exact and one.folded(1) != other.folded(1):
                return True
            if self.together(a, b) or not other.fits(*one.folded(1)):
                return True
        return False

    def times(self, items: Sequence[int]) -> list[frozenset[int]]:
        """Return the sets of these items that are live together."""
        if self.reorder:
            moments = sorted(set().union(*(self.live[key] for key in items)))
            sets = [frozenset(key for key in items if time in self.live[key]) for time in moments]
        else:
            tensors = [self.network.tensors[key] for key in items]
            moments = sorted({tensor.first for tensor in tensors})
            sets = [
                frozenset(t.id for t in tensors if t.first <= time <= t.last) for time in moments
            ]
        distinct = list(dict.fromkeys(sets))
        return [s for s in distinct if not any(s < other for other in distinct)]
