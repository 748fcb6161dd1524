"""Which project a folder belongs to, which package a command runs in, and the stamps of its git state.

Read from files, never by running git: a hook has no time for a process, and a checkout may name any program.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

_MANIFESTS = [
    "pyproject.toml",
    "setup.py",
    "package.json",
    "Cargo.toml",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "mix.exs",
    "composer.json",
    "Gemfile",
    "Package.swift",
    "build.sbt",
    "dune-project",
    "stack.yaml",
    "deno.json",
    "CMakeLists.txt",
]
_LOCKFILES = [
    "uv.lock",
    "poetry.lock",
    "Pipfile.lock",
    "requirements.txt",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "Cargo.lock",
    "go.sum",
    "composer.lock",
    "Gemfile.lock",
    "mix.lock",
    "Package.resolved",
    "gradle.lockfile",
]
_TOOLCHAINS = (
    "rust-toolchain.toml",
    "rust-toolchain",
    ".python-version",
    ".nvmrc",
    ".node-version",
    ".tool-versions",
)


def workspace(environ: Mapping[str, str], cwd: str) -> str:
    """The workspace root that the client names, else the folder that the process was started in."""
    for name in ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"):
        if environ.get(name):
            return environ[name]
    return cwd


def project_of(root: str) -> str:
    """The project that `root` belongs to: git's `origin` as host/owner/name, else the real path of git's
    common directory, else the real path of `root`. Worktrees of one repository are one project."""
    common = common_directory(root)
    if common is None:
        return os.path.realpath(root)
    return _origin(common) or os.path.realpath(common)


def worktree_of(root: str) -> str:
    """The real path of the checkout that holds `root`, or of `root` where there is none."""
    found = _git_entry(root)
    return os.path.realpath(os.path.dirname(found) if found else root)


def common_directory(root: str) -> str | None:
    """Git's common directory of the checkout that holds `root`, or None."""
    entry = _git_entry(root)
    if entry is None:
        return None
    git = _git_directory(entry)
    shared = _first_line(os.path.join(git, "commondir"))
    return os.path.normpath(os.path.join(git, shared)) if shared else git


def package_root(cwd: str) -> str:
    """The nearest folder at or above `cwd`, within its checkout, that holds a manifest; "" where none does."""
    folder = os.path.realpath(cwd)
    while True:
        if any(os.path.exists(os.path.join(folder, name)) for name in _MANIFESTS):
            return folder
        parent = os.path.dirname(folder)
        if os.path.exists(os.path.join(folder, ".git")) or parent == folder:
            return ""
        folder = parent


def stamps(root: str) -> str:
    """Branch, HEAD, lockfiles and toolchain of the checkout as JSON: what a constraint keeps of its evidence."""
    found: dict[str, str] = {}
    entry = _git_entry(root)
    if entry is not None:
        git = _git_directory(entry)
        head = _first_line(os.path.join(git, "HEAD"))
        if head.startswith("ref: "):
            ref = head[5:]
            found["branch"] = ref.removeprefix("refs/heads/")
            found["head"] = _ref(common_directory(root) or git, ref)
        elif head:
            found["head"] = head
    top = worktree_of(root)
    for key, names in (("locks", _LOCKFILES), ("toolchain", _TOOLCHAINS)):
        marks = [f"{name}:{mark}" for name in names if (mark := file_stamp(os.path.join(top, name)))]
        if marks:
            found[key] = " ".join(marks)
    return json.dumps(found, sort_keys=True)


def index_stamp(root: str) -> str:
    """The stamp of git's index of the checkout that holds `root`, "" where there is none."""
    entry = _git_entry(root)
    return file_stamp(os.path.join(_git_directory(entry), "index")) if entry else ""


def file_stamp(path: str) -> str:
    """Size and modification time (nanoseconds) of a file, or "" where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return f"{status.st_size}.{status.st_mtime_ns}"


def _git_entry(root: str) -> str | None:
    folder = os.path.realpath(root)
    while True:
        entry = os.path.join(folder, ".git")
        if os.path.exists(entry):
            return entry
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _git_directory(entry: str) -> str:
    if os.path.isdir(entry):
        return entry
    line = _first_line(entry)
    if not line.startswith("gitdir: "):
        return entry
    return os.path.normpath(os.path.join(os.path.dirname(entry), line[8:]))


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""


def _ref(common: str, ref: str) -> str:
    direct = _first_line(os.path.join(common, *ref.split("/")))
    if direct:
        return direct
    try:
        with open(os.path.join(common, "packed-refs"), encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.rstrip("\n").endswith(f" {ref}"):
                    return line.split(" ", 1)[0]
    except OSError:
        pass
    return ""


def _origin(common: str) -> str:
    """The URL of `[remote "origin"]` as host/owner/name, or "" where there is none or it names no host."""
    section = ""
    try:
        with open(os.path.join(common, "config"), encoding="utf-8", errors="replace") as file:
            for raw in file:
                line = raw.strip()
                if line.startswith("["):
                    section = line.lower()
                elif section == '[remote "origin"]' and line.split("=")[0].strip().lower() == "url":
                    return repository_name(line.partition("=")[2].strip().strip('"'))
    except OSError:
        pass
    return ""


def repository_name(url: str) -> str:
    """A git URL as host/owner/name: scheme, user, password, port and `.git` gone; "" for a local path."""
    if "://" in url:
        scheme, _, rest = url.partition("://")
        if scheme == "file":
            return ""
        host, _, path = rest.partition("/")
    else:
        host, colon, path = url.partition(":")
        if not colon or "/" in host or "\\" in host or (len(host) == 1 and host.isalpha()):
            return ""
    host = host.rpartition("@")[2]
    host = (host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]).lower()
    path = path.strip("/").removesuffix(".git")
    return f"{host}/{path}" if host and path else ""
