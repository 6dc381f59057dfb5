"""A library keeps the code of one GPU, and its size."""

import struct

from lab_kernels.one_architecture import keep_architecture

PTX, CUBIN = 1, 2


def part(kind: int, architecture: int, code: bytes) -> bytes:
    return (
        struct.pack("<HHIQ", kind, 0x101, 64, len(code))
        + bytes(12)
        + struct.pack("<I", architecture)
        + bytes(32)
        + code
    )


def fat(*parts: bytes) -> bytes:
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, sum(map(len, parts))) + b"".join(parts)


def test_of_each_fat_binary_only_what_the_gpu_runs_is_left():
    both = fat(part(CUBIN, 80, b"ampere  "), part(CUBIN, 90, b"hopper  "), part(PTX, 80, b"any     "))
    without = fat(part(CUBIN, 80, b"ampere2 "), part(PTX, 80, b"any2    "))
    library = b"host code" + both + b"data" + without + b"more"
    kept = keep_architecture(library, 90)
    assert len(kept) == len(library)
    gone = library.replace(b"ampere  ", bytes(8)).replace(b"any     ", bytes(8)).replace(b"ampere2 ", bytes(8))
    assert kept == gone
