"""A file with one segment's rows: its metadata, its checks, and who may read it."""

import hashlib
import json
import stat
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save

from reprise_reuse.disk.messages import DiskFile, digest_of
from reprise_reuse.stores.store import Value

State = dict[str, torch.Tensor]
"""as returned by `HostStore.state`"""
MOST_BYTES = 512 << 20
"""of copies of rows that wait to be written, beyond which a tier lets no segment join them"""
_FORMAT = 5
_WIDTH = 4096
_DTYPES = {
    "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "U8": torch.uint8, "I8": torch.int8, "I16": torch.int16, "I32": torch.int32, "I64": torch.int64,
}  # fmt: skip
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    # torch says once that bytes cannot be written to; nobody does
    torch.frombuffer(b" ", dtype=torch.uint8)


def size_of(state: State) -> int:
    """Returns how many bytes of memory rows take."""
    return sum(tensor.nbytes for tensor in state.values())


class RefusedError(Exception):
    """A file that is not used; the message says why."""


class SegmentFiles:
    """Reads and writes files of one model in one configuration. Refuses all others."""

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = f"{_FORMAT} {fingerprint}"
        """of the model and of the files' format"""

    def pack(self, file: DiskFile, state: State) -> bytes:
        """Returns what a file holds."""
        described = {"fingerprint": self.fingerprint, **_description_of(file)}
        sums = {"head": _checksum(described, {}), "checksum": _checksum(described, state)}
        return save(state, metadata={**described, **sums})

    def read_head(self, path: Path, name: int) -> tuple[DiskFile, np.ndarray]:
        """Reads a file's description of its segment, and the tokens. Neither reads nor checks rows: `read` does.

        Raises `RefusedError` if the file is damaged or another model's.
        """
        _check_plain(path)
        with safe_open(path, "pt") as opened:
            described, _ = self._check(opened.metadata())
            # copied, so that the file does not stay mapped while its tokens are in use
            return _file_of(described, opened.get_tensor("tokens").numpy().copy(), name)

    def read(self, path: Path, file: DiskFile) -> State:
        """Reads all rows of a segment. Raises `RefusedError` if they are damaged or do not match `file`."""
        _check_plain(path)
        return self.unpack(path.read_bytes(), file)

    def unpack(self, data: Value, file: DiskFile) -> State:
        """Like `read`, of what `pack` has returned."""
        return self._unpack(data, file)[1]

    def unpack_head(self, data: Value, namespace: bytes) -> tuple[DiskFile, np.ndarray]:
        """Like `read_head`, of what `pack` has returned for the tokens alone. The segment's name is 0."""
        described, state = self._unpack(data)
        if described["namespace"] != namespace.hex():
            raise RefusedError("is another tenant's")
        return _file_of(described, state["tokens"].numpy().copy(), 0)

    def _unpack(self, data: Value, file: DiskFile | None = None) -> tuple[dict[str, str], State]:
        # the header of a safetensors file follows its length in eight bytes
        begin = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(bytes(data[8:begin]))
        described, checksum = self._check(header.pop("__metadata__", None), file)
        state = {name: _tensor_of(data, begin, **one) for name, one in header.items()}
        if checksum != _checksum(described, state):
            raise RefusedError("is damaged")
        return described, state

    def _check(
        self, metadata: dict[str, str] | None, file: DiskFile | None = None
    ) -> tuple[dict[str, str], str | None]:
        """Returns a file's metadata, checked, and the checksum of the whole file."""
        described = dict(metadata or {})
        if described.get("fingerprint") != self.fingerprint:
            raise RefusedError("is of another model or set-up")
        head, checksum = described.pop("head", None), described.pop("checksum", None)
        if head != _checksum(described, {}):
            raise RefusedError("is damaged")
        if file is not None and any(described[name] != value for name, value in _description_of(file).items()):
            # written before its rows were last replaced or averaged, or copied here from elsewhere
            raise RefusedError("is out of date or another segment's")
        return described, checksum


def why_unused(error: Exception) -> str:
    """Returns why a file is not used that could not be read."""
    return str(error) if isinstance(error, RefusedError) else f"cannot be read ({error})"


def _tensor_of(
    data: Value, begin: int, dtype: str, shape: Sequence[int], data_offsets: tuple[int, int]
) -> torch.Tensor:
    """Returns a tensor of a safetensors file where it is: copying it would stop all threads."""
    first, end = data_offsets
    raw = torch.frombuffer(data, dtype=torch.uint8, count=end - first, offset=begin + first)
    return raw.view(_DTYPES[dtype]).reshape(shape)


def _file_of(described: dict[str, str], tokens: np.ndarray, name: int) -> tuple[DiskFile, np.ndarray]:
    digest = digest_of(tokens)
    if described["tokens"] != digest.hex():
        raise RefusedError("is damaged")
    prefixes, users = (
        tuple(bytes.fromhex(one) for one in described[name].split(",")) for name in ("prefixes", "users")
    )
    namespace, is_exact = bytes.fromhex(described["namespace"]), described["is_exact"] == "1"
    slots = np.empty(0, np.int64)
    position = int(described["position"])
    return DiskFile(name, slots, namespace, position, prefixes, users, is_exact, name, digest), tokens


def _check_plain(path: Path) -> None:
    # opening a pipe would block, and a link may lead out of the folder
    if not stat.S_ISREG(path.lstat().st_mode):
        raise RefusedError("is no plain file")


def _description_of(file: DiskFile) -> dict[str, str]:
    """Returns the metadata that describes a file's segment."""
    return {
        "namespace": file.namespace.hex(),
        "position": str(file.position),
        "prefixes": ",".join(prefix.hex() for prefix in file.prefixes),
        "users": ",".join(user.hex() for user in file.users),
        "is_exact": "1" if file.is_exact else "0",
        "tokens": file.tokens_digest.hex(),
    }


def _checksum(described: dict[str, str], tensors: State) -> str:
    state = hashlib.sha256(repr(sorted(described.items())).encode())
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        state.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        # read where it is. Sums of rows and columns are hashed: all of it takes five times as long, longer than reading
        data = tensor.reshape(-1).view(torch.uint8).numpy()
        whole = len(data) - len(data) % (8 * _WIDTH)
        words = data[:whole].view(np.uint64).reshape(-1, _WIDTH)
        for part in (words.sum(0), words.sum(1), data[whole:]):
            state.update(part)
    return state.hexdigest()
