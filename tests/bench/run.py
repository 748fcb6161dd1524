"""`make bench`: every figure as a table and as JSON. A module `bench_*.py` here answers `measure()` with rows
{"figure", "value", "goal", "unit", "holds"}; `value` is a ratio measured side by side in one run, or a count.

usage: run.py [NAME…]    (only modules whose name holds one of the NAMEs)
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = Path("bench-results.json")


def main(wanted: list[str]) -> int:
    sys.path[:0] = [str(HERE), str(HERE.parent / "e2e"), str(HERE.parent / "contract")]
    rows: list[dict[str, Any]] = []
    for path in sorted(HERE.glob("bench_*.py")):
        if wanted and not any(name in path.stem for name in wanted):
            continue
        started = time.monotonic()
        print(f"{path.stem} …", file=sys.stderr, flush=True)
        try:
            found = _module(path).measure()
        except Exception:
            traceback.print_exc()
            found = [{"figure": path.stem, "value": None, "goal": "runs", "unit": "", "holds": False}]
        rows += found
        print(f"  {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    _table(rows)
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"\nwritten to {RESULTS}", file=sys.stderr)
    return 0 if all(row["holds"] for row in rows) else 1


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _table(rows: list[dict[str, Any]]) -> None:
    width = max((len(row["figure"]) for row in rows), default=10)
    for row in rows:
        value = "failed" if row["value"] is None else f"{row['value']:.3g}"
        mark = "ok " if row["holds"] else "NOT"
        print(f"{mark}  {row['figure']:<{width}}  {value:>8} {row['unit']:<6} goal {row['goal']}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
