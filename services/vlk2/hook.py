"""`vlk2-hook CLIENT`: one event of a client on stdin, one answer in that client's own words on stdout.

This module is small because it is the one whose bytecode may have to be made anew each time; see `vlk2.hearing`.
"""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """The command. Ends the process, always with 0."""
    # Told to write no bytecode, Python would compile fifty modules at every tool call: three times the work of all
    # the rest. Here, and in no other command, that wish is passed over for our own package.
    sys.dont_write_bytecode = False
    gc.disable()  # it ends long before there is garbage worth a search: a tenth of its time
    from vlk2.hearing import main as hear

    hear()


if __name__ == "__main__":
    main()
