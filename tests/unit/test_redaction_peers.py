"""What the scanners whose rules we took as facts find in our samples, we mask. Skipped where they are absent."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from vlk2.redaction import mask


def _samples() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "redaction_samples", Path(__file__).with_name("test_redaction.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SAMPLES = _samples()
TEXTS = [f'key = "{token}"' for token in SAMPLES.TOKENS.values()] + [
    template.replace("{{", "{").replace("}}", "}").replace("{}", secret) for template, secret in SAMPLES.NAMED
]


def test_what_betterleaks_finds_in_a_sample_is_masked() -> None:
    betterleaks = pytest.importorskip("betterleaks")
    found = [(text, finding.match.value) for text in TEXTS for finding in betterleaks.scan_string(text)]
    assert len(found) >= 20
    assert [value for text, value in found if value in mask(text)] == []


def test_what_detect_secrets_finds_in_a_sample_is_masked() -> None:
    scan = pytest.importorskip("detect_secrets.core.scan")
    settings = importlib.import_module("detect_secrets.settings")
    with settings.default_settings():
        found = [
            (text, secret.secret_value)
            for text in TEXTS
            for secret in scan.scan_line(text)
            # Those report any quoted word of a line that is scanned alone.
            if "Entropy" not in secret.type
        ]
    assert len(found) >= 20
    assert [value for text, value in found if value in mask(text)] == []
