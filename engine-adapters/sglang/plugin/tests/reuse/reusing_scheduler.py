"""SGLang's real scheduler and model in this process, with the plugin's hooks. Only the newest one may be used."""

import os
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from sglang.srt import runtime_context
from sglang.srt.distributed import bootstrap
from sglang.srt.managers.io_struct import AbortReq, TokenizedGenerateReqInput
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.plugins.hook_registry import HookRegistry
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.server_args import PortArgs, ServerArgs

import reprise_sglang
from reprise_sglang.reuse.hooks import REUSER

_DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class ReusingScheduler:
    """Takes steps of its own, as SGLang's loop does."""

    _is_first = True

    def __init__(self, model: Path, settings: str, **arguments: Any) -> None:
        """settings: as in `REPRISE_REUSE`"""
        os.environ["REPRISE_REUSE"] = settings
        if ReusingScheduler._is_first:
            reprise_sglang.register()
            HookRegistry.apply_hooks()
        else:
            # a process has one group of ranks, whichever models it serves
            bootstrap.init_parallel_runtime = lambda **_: None
            runtime_context.get_resources().expert_location_metadata = None
        ReusingScheduler._is_first = False
        given = ServerArgs(
            model_path=str(model), device=_DEVICE, dtype="float32", attention_backend="torch_native",
            sampling_backend="pytorch", mem_fraction_static=0.3, disable_overlap_schedule=True,
            radix_cache_backend="reprise", skip_server_warmup=True, **arguments,
        )  # fmt: skip
        runtime_context.publish(given, role="scheduler", ranks=runtime_context.SpawnRanks(world_rank=0, gpu_id=0))
        ports = PortArgs.init_new(given)
        self.scheduler = Scheduler(given, ports)
        self.runner = self.scheduler.tp_worker.model_runner
        self.first_logits: dict[str, torch.Tensor] = {}
        """of each request, the logits of its first token"""
        self.steps: dict[str, int] = defaultdict(int)
        """of each request, its prefills"""
        self._sent = 0

    @property
    def reuser(self) -> Any:
        return getattr(self.runner, REUSER)

    @reuser.setter
    def reuser(self, reuser: Any) -> None:
        setattr(self.runner, REUSER, reuser)

    def send(
        self, prompt: Sequence[int], wish: object = None, tokens: int = 8, salt: str | None = None, **named: Any
    ) -> Any:
        """Queues a request, greedy. Returns SGLang's own record of it."""
        self._sent += 1
        params = {} if wish is None else {"custom_params": {"reprise": wish}}
        sampling = SamplingParams(max_new_tokens=tokens, ignore_eos=True, temperature=0, **params)
        sampling.normalize(None)
        given = {"return_logprob": False, "logprob_start_len": -1, "top_logprobs_num": 0, **named}
        request = TokenizedGenerateReqInput(
            rid=f"r-{self._sent}", input_text="", input_ids=array("q", prompt), input_embeds=None, mm_inputs=None,
            token_type_ids=None, sampling_params=sampling, token_ids_logprob=None, stream=False, cache_salt=salt,
            **given,
        )  # fmt: skip
        self.scheduler.process_input_requests([request])
        return self.scheduler.waiting_queue[-1]

    def step(self) -> bool:
        """One round of `Scheduler.event_loop_normal`. Returns whether there was anything to do."""
        scheduler = self.scheduler
        plan = scheduler.get_next_batch_to_run(running_batch=scheduler.running_batch, last_batch=scheduler.last_batch)
        scheduler.running_batch = plan.running_batch
        batch = plan.batch_to_run
        if batch:
            is_prefill = batch.forward_mode.is_extend()
            result = scheduler.run_batch(batch)
            for request, logits in zip(batch.reqs, result.logits_output.next_token_logits, strict=True):
                if is_prefill:
                    self.steps[request.rid] += 1
                    self.first_logits[request.rid] = logits.clone()
            scheduler.process_batch_result(batch, result)
        scheduler.last_batch = batch
        return batch is not None

    def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Takes steps while there is work, or requests wait for a disk, or until something holds."""
        while not until() and (self.step() or self.scheduler.waiting_queue):
            pass

    def ask(self, prompt: Sequence[int], wish: object = None, tokens: int = 8, **named: Any) -> Any:
        """Sends a request and runs it to its end."""
        request = self.send(prompt, wish, tokens, **named)
        self.run()
        assert request.finished()
        return request

    def abort(self, request: Any) -> None:
        self.scheduler.abort_request(AbortReq(rid=request.rid))

    def flush(self) -> None:
        """Empties SGLang's cache and what is stored for reuse."""
        self.run()
        assert self.scheduler.flush_cache()

    def forget_prefixes(self) -> None:
        """Empties SGLang's own cache alone."""
        reset, self.reuser.reset = self.reuser.reset, lambda: None
        try:
            self.flush()
        finally:
            self.reuser.reset = reset

    def is_balanced(self) -> bool:
        """Whether all slots are free or in the tree, none of them lost and none given back twice."""
        cache, allocator = self.scheduler.tree_cache, self.scheduler.token_to_kv_pool_allocator
        held = cache.evictable_size() + cache.protected_size()
        return allocator.available_size() + held == allocator.size
