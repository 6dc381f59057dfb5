"""Makes a CUDA library small enough to carry: `python -m lab_kernels.one_architecture LIBRARY 90 OUTPUT`.

Machines with a GPU are often lent without a network, and vLLM's libraries hold code for seven generations of GPUs. What
the given one does not run becomes zeros, which compress to nothing; the driver chooses by the headers, and these stay.
Of vLLM 0.32, `_C_stable_libtorch` shrinks so from 54 to 14 MB (xz), `vllm_flash_attn/_vllm_fa3_C` has 12; the other
libraries are not needed for models like Llama.
"""

import struct
import sys
from pathlib import Path

_MAGIC = struct.pack("<I", 0xBA55ED50)
_PTX, _CUBIN = 1, 2


def keep_architecture(library: bytes, architecture: int) -> bytes:
    """Returns a library of the same size, without machine code for other GPUs, and without PTX where there is code."""
    kept = bytearray(library)
    at = kept.find(_MAGIC)
    while at >= 0:
        header, size = struct.unpack_from("<HQ", kept, at + 6)
        place, end, parts = at + header, at + header + size, []
        while place < end:
            kind, _, skip, length = struct.unpack_from("<HHIQ", kept, place)
            (of,) = struct.unpack_from("<I", kept, place + 28)
            parts.append((kind, of, place + skip, length))
            place += skip + length
        has_code = any(kind == _CUBIN and of == architecture for kind, of, _, _ in parts)
        for kind, of, begin, length in parts:
            if (kind == _CUBIN and of != architecture) or (kind == _PTX and has_code):
                kept[begin : begin + length] = bytes(length)
        at = kept.find(_MAGIC, end)
    return bytes(kept)


if __name__ == "__main__":
    source, wanted, target = sys.argv[1:]
    Path(target).write_bytes(keep_architecture(Path(source).read_bytes(), int(wanted)))
