"""What kind of change ended a loop, from what was changed between its last failure and the success."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from vlk2.domain.observation import Act, Outcome, Seen

DEPENDENCY, CONFIG, SOURCE, TEST, ENVIRONMENT = "dependency", "config", "source", "test", "environment"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MANIFESTS = _words(
    "pyproject.toml setup.py setup.cfg pipfile package.json cargo.toml go.mod pom.xml build.gradle build.gradle.kts "
    "mix.exs composer.json gemfile package.swift build.sbt stack.yaml deno.json environment.yml libs.versions.toml "
    "go.sum mix.lock package-lock.json pnpm-lock.yaml bun.lockb npm-shrinkwrap.json packages.config paket.dependencies"
)
_CONFIG_ENDINGS = tuple(
    _words(
        ".toml .yaml .yml .json .jsonc .json5 .ini .cfg .conf .env .properties .xml .mk .cmake .gradle .nix .tf .bazel .rc"
    )
)
_CONFIG_NAMES = _words(
    "makefile dockerfile containerfile cmakelists.txt justfile procfile jenkinsfile tox.ini .env .npmrc .babelrc"
)


def kind_of_file(path: str) -> str:
    """`dependency` for a manifest or lockfile, `test`, `config`, else `source`."""
    parts = path.replace("\\", "/").lower().split("/")
    name, folders = parts[-1], parts[:-1]
    if name in _MANIFESTS or name.endswith((".lock", ".lockfile", ".csproj", ".gemspec", ".cabal")):
        return DEPENDENCY
    if name.startswith("requirements") and name.endswith((".txt", ".in")):
        return DEPENDENCY
    stem = name.partition(".")[0]
    if (
        any(
            folder in ("test", "tests", "__tests__", "spec", "specs", "testdata", "e2e") for folder in folders
        )
        or stem.startswith("test_")
        or stem.endswith(("_test", "_spec", "tests"))
        or ".test." in name
        or ".spec." in name
        or stem == "conftest"
    ):
        return TEST
    if name in _CONFIG_NAMES or name.endswith(_CONFIG_ENDINGS) or name.startswith(".") or ".config." in name:
        return CONFIG
    return SOURCE


def edited_since(window: Iterable[Seen], after: int) -> tuple[str, ...]:
    """The files that the run edited after the observation `after` (a seq), in order, each once."""
    found = (
        seen.place
        for seen in window
        if seen.seq > after
        and seen.place
        and seen.changes
        and (seen.act is Act.EDIT or seen.act is Act.RUN)
        and seen.outcome is not Outcome.FAILURE
    )
    return tuple(dict.fromkeys(found))


def ended_by(files: Iterable[str], moved: Collection[str]) -> str:
    """The kind of change that ended a loop.

    `files` are those edited between the last failure and the success, `moved` the stamps (`locks`,
    `toolchain`, …) that differ. Of several the first in the order dependency, config, source, test: the wider a
    change reaches, the likelier it was the one. Where nothing in the project changed it was the environment.
    """
    kinds = {kind_of_file(path) for path in files}
    if DEPENDENCY in kinds or "locks" in moved:
        return DEPENDENCY
    for kind in (CONFIG, SOURCE, TEST):
        if kind in kinds:
            return kind
    if "head" in moved and "toolchain" not in moved:
        return SOURCE
    return ENVIRONMENT
