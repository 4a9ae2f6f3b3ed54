"""LETOR text: reading, checking, importing."""
