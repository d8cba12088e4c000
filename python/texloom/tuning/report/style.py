"""The style of reports: no fonts, pictures or scripts from elsewhere."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ink: #1b2330; --faint: #667085; --line: #e3e7ee;
  --ground: #f6f7f9; --card: #fff; --best: #1769e0; --good: #12805c; --bad: #c9372c;
  --trial: #7f9fce; --other: #b7791f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf1; --faint: #97a3b6; --line: #2c3442;
  --ground: #12161d; --card: #1a2029; --best: #6aa8ff; --good: #4cc38a; --bad: #ff7b6b;
  --trial: #5f7cab; --other: #e0a94a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1040px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; letter-spacing: -.01em; }
h2 { font-size: 18px; margin: 40px 0 4px; }
p { margin: 0 0 12px; max-width: 90ch; }
.note, .tick, small { color: var(--faint); }
.tick { fill: var(--faint); font-size: 11px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px;
  margin: 20px 0; }
.tile, .card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.tile { padding: 14px 16px; }
.tile b { display: block; font-size: 24px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.card { padding: 14px 16px; overflow-x: auto; }
.card + .note { margin-top: 8px; }
.grid-of-cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr));
  gap: 12px; }
.grid-of-cards .card { padding: 12px 12px 4px; }
.card h3 { font-size: 13px; margin: 0; display: flex; justify-content: space-between; gap: 8px; }
.card h3 span { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.card h3 span:last-child { flex: none; }
.card h3 + p { font-size: 12px; margin: 0 0 4px; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; }
svg { display: block; width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 600; color: var(--faint); border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th, td { padding: 6px 14px 6px 0; vertical-align: top; }
td { border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: 12px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.gain { color: var(--good); font-weight: 600; } .loss { color: var(--bad); font-weight: 600; }
.bar { display: inline-block; height: 9px; border-radius: 3px; background: var(--best);
  vertical-align: middle; min-width: 2px; }
.bar.texture { background: var(--other); } .bar.failures { background: var(--bad); }
.track { width: 180px; min-width: 120px; }
.chips { display: flex; flex-wrap: wrap; gap: 4px 6px; }
.chip { border: 1px solid var(--line); border-radius: 6px; padding: 0 7px; font-size: 12px;
  white-space: nowrap; }
.chip.first { border-color: var(--good); color: var(--good); }
details { margin-top: 12px; } summary { cursor: pointer; color: var(--faint); }
.grid { stroke: var(--line); } .best { fill: none; stroke: var(--best); stroke-width: 2; }
.trial { fill: var(--trial); } .failed { stroke: var(--bad); stroke-width: 1.4; fill: none; }
.area { fill: var(--best); opacity: .12; }
"""

__all__ = ["STYLE"]
