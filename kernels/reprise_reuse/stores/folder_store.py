"""A store in a folder of a shared file system."""

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path


class FolderStore:
    """One file per value (`reprise_reuse.stores.store.Store`), replaced atomically, for its user only.

    Nothing is ever removed; a file is touched when it is read, so that old ones can be told by their age.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def put(self, key: str, value: bytes) -> None:
        path = self._path(key)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(".partial", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as opened:
                opened.write(value)
            os.replace(partial, path)  # noqa: PTH105
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        return [self._read(self._path(key)) for key in keys]

    def close(self) -> None:
        return

    def _path(self, key: str) -> Path:
        # a folder with millions of files is slow on many file systems
        return self._folder / key[:2] / key

    def _read(self, path: Path) -> bytes | None:
        try:
            # opening a pipe would block, and a link may lead out of the folder
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        with os.fdopen(descriptor, "rb") as opened:
            value = opened.read()
        with contextlib.suppress(OSError):
            os.utime(path)
        return value
