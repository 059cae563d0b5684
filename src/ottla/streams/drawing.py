"""A topology as a picture (SVG): sub-topologies as frames, nodes in layers, topics above and below.

A node lies one layer below the lowest of its parents, and names the stores that it uses. Topics that are read stand
above their sources, those that are written below their sinks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final

from ottla.streams.engine.topology import SinkNode, SourceNode, SubTopology, Topology

_WIDTH: Final = 250
_HEIGHT: Final = 40
_ACROSS: Final = 36
_DOWN: Final = 44
_MARGIN: Final = 28
_TITLE: Final = 34
_TEXT_MAX: Final = 31
_LINE: Final = 16
_STYLE: Final = """
  text { font: 12.5px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2937; }
  .title { font-weight: 600; font-size: 13.5px; fill: #475569; }
  .frame { fill: #f8fafc; stroke: #cbd5e1; }
  .node { fill: #ffffff; stroke: #64748b; }
  .source { fill: #ecfdf5; stroke: #059669; }
  .sink { fill: #fff7ed; stroke: #ea580c; }
  .topic { fill: #1e293b; stroke: none; }
  .internal { fill: #64748b; stroke: none; }
  .on-dark { fill: #ffffff; }
  .stateful { fill: #eff6ff; stroke: #2563eb; }
  .store { fill: #1d4ed8; font-size: 11.5px; }
  .edge { fill: none; stroke: #94a3b8; stroke-width: 1.5; marker-end: url(#arrow); }
"""


@dataclass(slots=True)
class _Box:
    """Something with a place: its upper left corner."""

    text: str
    kind: str
    stores: tuple[str, ...] = ()
    x: float = 0
    y: float = 0

    @property
    def height(self) -> float:
        return _HEIGHT + _LINE * len(self.stores)

    @property
    def middle(self) -> float:
        return self.x + _WIDTH / 2


@dataclass(slots=True)
class _Frame:
    """A sub-topology, laid out from (0, 0) on."""

    title: str
    boxes: dict[str, _Box] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)
    width: float = 0
    height: float = 0


def drawn(topology: Topology) -> str:
    """The picture.

    >>> drawn(Topology()).splitlines()[0]
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 306 56" width="306" height="56">'
    """
    frames = [_laid_out(topology, group) for group in topology.sub_topologies()]
    width = max((frame.width for frame in frames), default=_WIDTH) + 2 * _MARGIN
    parts: list[str] = []
    y = float(_MARGIN)
    for frame in frames:
        parts += _frame_parts(frame, _MARGIN, y)
        y += frame.height + _MARGIN
    height = y if frames else 2 * _MARGIN
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    marker = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#94a3b8"/></marker></defs>'
    )
    paper = f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>'
    return "\n".join([head, f"<style>{_STYLE}</style>", marker, paper, *parts, "</svg>"]) + "\n"


def _laid_out(topology: Topology, group: SubTopology) -> _Frame:
    frame = _Frame(f"Sub-topology {group.number}{' (global)' if group.is_global else ''}")
    layers = _layers(topology, group, frame)
    columns = max((len(layer) for layer in layers), default=1)
    inner = columns * (_WIDTH + _ACROSS) - _ACROSS
    y = float(_TITLE)
    for layer in layers:
        row = len(layer) * (_WIDTH + _ACROSS) - _ACROSS
        for number, name in enumerate(layer):
            frame.boxes[name].x = _MARGIN + (inner - row) / 2 + number * (_WIDTH + _ACROSS)
            frame.boxes[name].y = y
        y += max(frame.boxes[name].height for name in layer) + _DOWN
    frame.width = inner + 2 * _MARGIN
    frame.height = y - _DOWN + _MARGIN
    return frame


def _layers(topology: Topology, group: SubTopology, frame: _Frame) -> list[list[str]]:
    depth: dict[str, int] = {}
    for name in group.nodes:
        node = topology.nodes[name]
        parents = [parent for parent in topology.parents_of(node) if parent in depth]
        if isinstance(node, SourceNode):
            topics: Sequence[str] = node.topics or (str(node.pattern),)
            for topic in topics:
                _add_topic(topology, frame, depth, (f"in {topic}", topic), 0)
                frame.edges.append((f"in {topic}", name))
            depth[name] = 1
        else:
            depth[name] = max((depth[parent] for parent in parents), default=0) + 1
            frame.edges += [(parent, name) for parent in parents]
        stores = tuple(topology.connections.get(name, ()))
        plain = "stateful" if stores else "node"
        style = "source" if isinstance(node, SourceNode) else "sink" if isinstance(node, SinkNode) else plain
        frame.boxes[name] = _Box(name, style, stores)
        if isinstance(node, SinkNode):
            topic = node.topic if isinstance(node.topic, str) else "chosen by a function"
            _add_topic(topology, frame, depth, (f"out {name}", topic), depth[name] + 1)
            frame.edges.append((name, f"out {name}"))
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=0) + 1)]
    for name, number in depth.items():
        layers[number].append(name)
    return [layer for layer in layers if layer]


def _add_topic(topology: Topology, frame: _Frame, depth: dict[str, int], named: tuple[str, str], at: int) -> None:
    name, topic = named
    frame.boxes[name] = _Box(topic, "internal" if topic in topology.internal_topics else "topic")
    depth[name] = at


def _frame_parts(frame: _Frame, x: float, y: float) -> list[str]:
    parts = [
        f'<g transform="translate({x:g} {y:g})">',
        f'<rect class="frame" width="{frame.width:g}" height="{frame.height:g}" rx="10"/>',
        f'<text class="title" x="14" y="22">{escape(frame.title)}</text>',
    ]
    boxes = frame.boxes
    for above, below in frame.edges:
        start, end = boxes[above], boxes[below]
        top, bottom = start.y + start.height, end.y - 1
        bend = (bottom - top) / 2
        parts.append(
            f'<path class="edge" d="M{start.middle:g} {top:g} C{start.middle:g} {top + bend:g} '
            f'{end.middle:g} {bottom - bend:g} {end.middle:g} {bottom:g}"/>'
        )
    parts += [_box_part(box) for box in boxes.values()]
    return [*parts, "</g>"]


def _box_part(box: _Box) -> str:
    is_topic = box.kind in ("topic", "internal")
    radius = _HEIGHT / 2 if is_topic else 6
    colour = ' class="on-dark"' if is_topic else ""
    level = box.y + _HEIGHT / 2 + 4.5
    lines = [f'<text{colour} x="{box.middle:g}" y="{level:g}" text-anchor="middle">{_shortened(box.text)}</text>']
    for number, store in enumerate(box.stores):
        lines.append(
            f'<text class="store" x="{box.middle:g}" y="{level + 15 + _LINE * number:g}" text-anchor="middle">'
            f"{_shortened(f'store {store}')}</text>"
        )
    return (
        f'<g><title>{escape(box.text)}</title><rect class="{box.kind}" x="{box.x:g}" y="{box.y:g}" '
        f'width="{_WIDTH}" height="{box.height:g}" rx="{radius:g}"/>{"".join(lines)}</g>'
    )


def _shortened(text: str) -> str:
    return escape(text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 1]}…")
