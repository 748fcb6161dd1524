"""Whether a store is as it has to be."""

from __future__ import annotations

from dataclasses import dataclass

from vlk2.ports import Store


@dataclass(frozen=True, slots=True)
class Checked:
    """The schema's number, how many rows the largest tables hold, and the rules that are broken (in words, with
    how often), and what is worth knowing of how the store is set up."""

    schema: int
    entries: int
    observations: int
    faults: tuple[tuple[str, int], ...]
    remarks: tuple[str, ...]


def check(store: Store) -> Checked:
    """Looks through the whole store, in one snapshot, and changes nothing."""
    with store.archive(write=False) as archive:
        return Checked(
            archive.schema,
            archive.count("agent_timeline"),
            archive.count("observations"),
            tuple(archive.faults()),
            archive.remarks,
        )
