"""A store in a folder of a shared file system."""

import contextlib
import errno
import logging
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path

from reprise_reuse.stores.store import Value

PARTIAL = ".partial"
"""the end of the names of files that are being written"""
_logger = logging.getLogger(__name__)
_OF_ONE_FILE = {errno.ENOENT, errno.ELOOP, errno.ESTALE, errno.EACCES, errno.ENXIO, errno.EISDIR}
"""errors that say nothing about other files"""


def warn_of_others(folder: Path, logger: logging.Logger) -> None:
    """Warns if a folder is not its user's alone. It may belong to somebody else, so its mode is left alone."""
    if folder.stat().st_mode & 0o077:
        logger.warning("reprise: other users have access to %s: chmod 700", folder)


def write_private(path: Path, data: Value) -> None:
    """Writes a file, or replaces it, at once and for its user only. Leaves no part of it behind."""
    # data may come from a prompt: never written to a file or link that somebody else created
    descriptor, partial = tempfile.mkstemp(PARTIAL, f"{path.stem}.", path.parent)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
        os.replace(partial, path)  # noqa: PTH105
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


class FolderStore:
    """One file per value (`reprise_reuse.stores.store.Store`), replaced atomically, for its user only.

    The folder is made, if its parent is there. Nothing is ever removed; a file is touched when it is read, so that old
    ones can be told by their age.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._is_checked = False

    def put(self, key: str, value: bytes) -> None:
        path = self._path(key)
        # not its parents: where nothing is mounted, the host's own disk would be filled
        with contextlib.suppress(FileExistsError):
            self._folder.mkdir(mode=0o700)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not self._is_checked:
            warn_of_others(self._folder, _logger)
            self._is_checked = True
        write_private(path, value)

    def get(self, keys: Sequence[str]) -> list[Value | None]:
        return [self._read(self._path(key)) for key in keys]

    def close(self) -> None:
        return

    def _path(self, key: str) -> Path:
        # a folder with millions of files is slow on many file systems
        return self._folder / key[:2] / key

    def _read(self, path: Path) -> bytes | None:
        try:
            with open(path, "rb", opener=_open_plain) as opened:
                if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                    return None
                value = opened.read()
        except OSError as error:
            if error.errno in _OF_ONE_FILE:
                return None
            raise
        with contextlib.suppress(OSError):
            os.utime(path)
        return value


def _open_plain(path: str, flags: int) -> int:
    # opening a pipe would block, and a link may lead out of the folder
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
