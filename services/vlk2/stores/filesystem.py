"""Whether a folder lies on a network file system, where SQLite's locks do not hold."""

from __future__ import annotations

import os

NETWORK = frozenset(
    [
        "nfs",
        "nfs3",
        "nfs4",
        "cifs",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "afs",
        "ncpfs",
        "9p",
        "ceph",
        "glusterfs",
        "lustre",
        "gpfs",
        "beegfs",
        "ocfs2",
        "gfs2",
        "fuse.sshfs",
        "fuse.glusterfs",
        "fuse.ceph",
        "fuse.s3fs",
        "fuse.rclone",
        "davfs",
        "webdav",
        "afpfs",
    ]
)
_MOUNTS = "/proc/mounts"


def network_file_system(folder: str, mounts: str | None = None) -> str:
    """The kind of network file system that holds `folder`, or "" (also where the machine cannot tell).

    `mounts` is the text of a mount table (`/proc/mounts`), read from the machine where it is None.
    """
    if os.name == "nt":
        return "network share" if os.path.abspath(folder).startswith(("\\\\", "//")) else ""
    if mounts is None:
        try:
            with open(_MOUNTS, encoding="utf-8", errors="replace") as file:
                mounts = file.read()
        except OSError:
            return ""
    best, kind = "", ""
    real = os.path.realpath(folder).rstrip("/") + "/"
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ").rstrip("/") + "/"
        if real.startswith(point) and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind if kind in NETWORK else ""
