# Which rules may make a file: Snakemake's own table of outputs, with a faster look-up. No rules, and plain Python.
# Snakemake compares a file with every output that begins alike, and here all begin with results/: a third of the time of planning.

from snakemake.output_index import OutputIndex


def by_suffix(entries):
    """Rules by the constant beginning of their outputs, then by the length of the constant end, then by the end itself."""
    table = {}
    for prefix, ends in entries:
        for rule, end in ends:
            ends_of_length = table.setdefault(prefix, {}).setdefault(len(end), {})
            ends_of_length.setdefault(end, set()).add(rule)
    return table


def match(index, targetfile):
    """What ``OutputIndex.match`` gives: all rules with an output that begins and ends like the file."""
    if not hasattr(index, "table"):
        index.table = by_suffix(index._lookup._entries)
    found = set()
    for prefix, lengths in index.table.items():
        if targetfile.startswith(prefix):
            for length, ends in lengths.items():
                found |= ends.get(targetfile[max(len(targetfile) - length, 0) :], set())
    return found


# Another version of Snakemake may keep its table differently: then its own look-up stays.
if hasattr(getattr(OutputIndex([]), "_lookup", None), "_entries"):
    OutputIndex.match = match
