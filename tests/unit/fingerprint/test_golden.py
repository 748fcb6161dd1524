"""The frozen answers of this ALGORITHM. Any change of output is a new version with a golden file of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path

from vlk2.domain.fingerprint import ALGORITHM, diagnose

GOLDEN = Path(__file__).parent / f"golden-{ALGORITHM}.json"


def answer(case) -> dict[str, object]:
    found = diagnose(case.text, **case.verdict)
    one = found.fingerprint
    assert one is not None, case.name
    return {
        "language": one.language,
        "type": one.type,
        "signature": one.signature,
        "symbols": list(one.symbols),
        "headline": one.headline,
        "specific": one.specific,
        "transient": one.transient,
        "failing": sorted([[*member[:1], list(member[1]), *member[2:]] for member in found.failing], key=str),
    }


def test_the_answers_of_this_algorithm_are_frozen(cases):
    answers = {case.name: answer(case) for case in cases}
    if not GOLDEN.exists() and os.environ.get("VLK2_WRITE_GOLDEN") == ALGORITHM:
        GOLDEN.write_text(
            json.dumps(answers, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8"
        )
    frozen = json.loads(GOLDEN.read_text(encoding="utf-8"))
    changed = [name for name in frozen if answers.get(name) != frozen[name]]
    assert not changed, f"other output needs another ALGORITHM than {ALGORITHM}: {changed}"
    assert set(answers) == set(frozen), "a new case belongs into the golden file of the current ALGORITHM"


def test_every_signature_begins_with_version_language_and_type(case):
    one = answer(case)
    assert str(one["signature"]).startswith(f"{ALGORITHM}:{one['language']}:{one['type']}:")
    assert len(str(one["signature"]).rpartition(":")[2]) == 12
