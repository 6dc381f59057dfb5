"""vLLM's offloading to the host where there is no GPU: its own manager, events and losses, with copies by a double."""

import torch
from reprise_vllm.hotness.offloading import HotOffloadingSpec
from vllm.v1.kv_offload.base import (
    CanonicalKVCaches,
    GPULoadStoreSpec,
    LoadStoreSpec,
    OffloadingWorker,
    TransferResult,
)
from vllm.v1.kv_offload.cpu.spec import CPUOffloadingSpec


class CopiesDouble(OffloadingWorker):
    """Copies blocks at once, as a GPU does in its own time."""

    def __init__(self, caches: CanonicalKVCaches, chunks: int) -> None:
        self._device = [one.tensor for one in caches.tensors]
        self._host = [torch.empty((chunks, *one.shape[1:]), dtype=one.dtype) for one in self._device]
        self._finished: list[TransferResult] = []

    def submit_store(self, job_id: int, src_spec: GPULoadStoreSpec, dst_spec: LoadStoreSpec) -> bool:
        return self._copy(job_id, (self._device, src_spec), (self._host, dst_spec))

    def submit_load(self, job_id: int, src_spec: LoadStoreSpec, dst_spec: GPULoadStoreSpec) -> bool:
        return self._copy(job_id, (self._host, src_spec), (self._device, dst_spec))

    def get_finished(self) -> list[TransferResult]:
        finished, self._finished = self._finished, []
        return finished

    def wait(self, job_ids: set[int]) -> None:
        return

    def _copy(self, job_id: int, source: tuple, target: tuple) -> bool:
        for theirs, ours in zip(source[0], target[0], strict=True):
            ours[torch.from_numpy(target[1].block_ids)] = theirs[torch.from_numpy(source[1].block_ids)]
        self._finished.append(TransferResult(job_id, success=True))
        return True


class DoubleCopiesSpec(CPUOffloadingSpec):
    """Has the double copy; everything else is vLLM's, or the plugin's."""

    def get_worker(self, kv_caches: CanonicalKVCaches) -> OffloadingWorker:
        self._worker = self._worker or CopiesDouble(kv_caches, self.num_chunks)
        return self._worker


class HotDoubleCopiesSpec(DoubleCopiesSpec, HotOffloadingSpec):
    """The same with the plugin's manager, which admits and evicts by hotness."""
