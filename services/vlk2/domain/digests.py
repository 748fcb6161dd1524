"""The two hash functions of Vlk², from Python's own implementations.

`hashlib` loads OpenSSL for a third of what a hook has in all; for texts of this size it gains nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    try:
        from _sha2 import sha256  # Python 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256

__all__ = ["blake2b", "sha256"]
