"""Where Numba keeps a compiled kernel: under the name of its module, so that every copy of the library finds it."""

from __future__ import annotations

from pathlib import Path

from numba.core.caching import UserProvidedCacheLocator

_LIBRARY = Path(__file__).resolve().parent


class KernelLocator(UserProvidedCacheLocator):
    """Kernels of this library, by module; functions of other libraries, by path as Numba does.

    By path, another checkout of the same code would compile everything again. What is found is always of this code: the
    folder of the cache is named after the content of all kernels, and Numba compares the content of the file.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Folder for the functions of a file, inside the folder of the cache."""
        path = Path(py_file).resolve()
        if path.is_relative_to(_LIBRARY):
            return "-".join(path.relative_to(_LIBRARY).with_suffix("").parts)
        return str(super().get_suitable_cache_subpath(py_file))  # type: ignore[no-untyped-call]
