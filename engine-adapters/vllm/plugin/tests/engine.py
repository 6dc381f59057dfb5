"""vLLM's real scheduler, cache manager and block pool without a model, driven as its engine core does."""

import random
from collections.abc import Sequence
from math import lcm
from typing import Any

from engine_config import BLOCK, VOCABULARY, full_attention
from vllm.config import VllmConfig
from vllm.sampling_params import SamplingParams
from vllm.utils.hashing import get_hash_fn_by_name
from vllm.v1.core.kv_cache_utils import KVCacheBlock, get_request_block_hasher, init_none_hash
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheGroupSpec, KVCacheSpec
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request, RequestStatus
from vllm.v1.structured_output import StructuredOutputManager


class Engine:
    """An engine whose model answers immediately, and never with the end token."""

    def __init__(
        self,
        config: VllmConfig,
        blocks: int,
        specs: Sequence[KVCacheSpec] | None = None,
        scheduler: type[Scheduler] = Scheduler,
    ) -> None:
        groups = [KVCacheGroupSpec([f"layer.{i}"], spec) for i, spec in enumerate(specs or [full_attention()])]
        cache_config = KVCacheConfig(
            num_blocks=blocks, kv_cache_tensors=[], kv_cache_groups=groups,
            prefix_cache_retention_interval=config.cache_config.prefix_cache_retention_interval,
        )  # fmt: skip
        config.cache_config.num_gpu_blocks = blocks
        hash_function = get_hash_fn_by_name(config.cache_config.prefix_caching_hash_algo)
        init_none_hash(hash_function)
        self._hasher = get_request_block_hasher(BLOCK, hash_function)
        self.scheduler = scheduler(
            vllm_config=config,
            kv_cache_config=cache_config,
            structured_output_manager=StructuredOutputManager(config),
            block_size=lcm(*(group.kv_cache_spec.block_size for group in groups)),
            hash_block_size=BLOCK,
            log_stats=True,
        )
        self.pool = self.scheduler.kv_cache_manager.block_pool
        self._tokens = random.Random(0)
        self._fresh = 10_000
        self.hits: dict[str, int] = {}
        self.evictions_seen = 0
        """by vLLM's own metrics, if they are on"""

    def add(self, request_id: str, prompt: Sequence[int], max_tokens: int = 1, **options: Any) -> Request:
        """Adds a request as the engine core receives it. `request_id` is the id that reprise sent in its header."""
        request = Request(
            request_id=f"chatcmpl-{request_id}-{self._tokens.randbytes(4).hex()}",
            prompt_token_ids=list(prompt),
            sampling_params=SamplingParams(max_tokens=max_tokens, ignore_eos=True),
            pooling_params=None,
            block_hasher=self._hasher,
            **options,
        )
        self.scheduler.add_request(request)
        return request

    def step(self) -> SchedulerOutput:
        """Runs one step: schedule, run the model, update."""
        output = self.scheduler.schedule()
        for new in output.scheduled_new_reqs:
            self.hits.setdefault(new.req_id, new.num_computed_tokens)
        outputs = self.scheduler.update_from_output(output, self.run_model(output))
        for client in outputs.values():
            if client.scheduler_stats:
                self.evictions_seen += len(client.scheduler_stats.kv_cache_eviction_events)
        return output

    def run(self, steps: int = 10_000) -> None:
        """Runs steps until every request has finished."""
        while self.scheduler.has_unfinished_requests():
            steps -= 1
            assert steps > 0, "the requests do not finish"
            self.step()

    def abort(self, request: Request) -> None:
        self.scheduler.finish_requests(request.request_id, RequestStatus.FINISHED_ABORTED)

    def cached_tokens(self, tokens: Sequence[int]) -> int:
        """Returns how many of these tokens the engine would find cached, for a longer request with this prefix."""
        _, found, *_ = self.scheduler.kv_cache_manager.get_computed_blocks(self._probe([*tokens, 0]))
        return found

    def copies(self, tokens: Sequence[int]) -> int:
        """Returns how many physical blocks hold the last full block of these tokens."""
        key = self._probe(tokens).block_hashes[-1] + bytes(4)
        return sum(block.block_hash == key for block in self.pool.blocks)

    def block_of(self, tokens: Sequence[int]) -> KVCacheBlock:
        """Returns a physical block that holds the last full block of these tokens."""
        return self.pool.get_cached_block(self._probe(tokens).block_hashes[-1], [0])[0]

    def fresh(self) -> int:
        """Returns the first of a thousand consecutive tokens that no prompt has used."""
        self._fresh += 1000
        return self._fresh

    def _probe(self, tokens: Sequence[int]) -> Request:
        return Request(
            request_id="probe",
            prompt_token_ids=list(tokens),
            sampling_params=SamplingParams(max_tokens=1),
            pooling_params=None,
            block_hasher=self._hasher,
        )

    def close(self) -> None:
        self.scheduler.shutdown()

    def run_model(self, output: SchedulerOutput) -> ModelRunnerOutput:
        """Returns what a forward would return."""
        ids = list(output.num_scheduled_tokens)
        sampled = []
        for request_id in ids:
            request = self.scheduler.requests[request_id]
            has_all = request.num_computed_tokens >= request.num_tokens
            sampled.append([self._tokens.randrange(1, VOCABULARY)] if has_all else [])
        return ModelRunnerOutput(
            req_ids=ids,
            req_id_to_index={request_id: i for i, request_id in enumerate(ids)},
            sampled_token_ids=sampled,
            logprobs=None,
            prompt_logprobs_dict={},
            pooler_output=[],
        )


def tokens(first: int, count: int) -> list[int]:
    """Returns a prompt of consecutive tokens."""
    return list(range(first, first + count))
