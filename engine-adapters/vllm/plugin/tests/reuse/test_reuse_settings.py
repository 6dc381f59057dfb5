"""What operators and requests can ask of reuse, and what is reported if it is not possible."""

import builtins
import logging
from types import SimpleNamespace

import pytest
import torch

from reprise_reuse.host_store import RowShape
from reprise_reuse.prompts.wishes import read_wish
from reprise_settings.reuse_settings import ReuseSettingError, ReuseSettings, check_memory, read_settings, tokens_in
from reprise_vllm.reuse.scheduler.asked import Asked, keys_of
from reprise_vllm.scheduler_side import warn_of_unknown


@pytest.mark.parametrize("extra", [{}, {"reuse": None}, {"reuse": False}])
def test_reuse_is_off_unless_it_is_asked_for(extra):
    assert read_settings(extra) is None


@pytest.mark.parametrize("given", [True, {}])
def test_true_or_no_settings_is_reuse_with_all_defaults(given):
    assert read_settings({"reuse": given}) == ReuseSettings()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ratio": 1.5}, "reuse.ratio is 1.5, it must be a number from 0 to 1"),
        ({"ratio": True}, "reuse.ratio is True"),
        ({"host_byte": 1}, "reuse.host_byte is no setting; did you mean host_bytes?"),
        ({"zzz": 1}, "reuse.zzz is no setting; known are ratio"),
        ({"host_bytes": 0}, "reuse.host_bytes is 0, it must be a whole number from 1 on"),
        ({"method": "best"}, "reuse.method is 'best', it must be one of attention-spread"),
        ({"ratio": 0.5, "max_ratio": 0.2}, "reuse.ratio is 0.5, it must lie between"),
        ({"host_dtype": "int4"}, "reuse.host_dtype is 'int4', it must be one of model, int8, k8v4"),
        ({"ratio_of": "rows"}, "reuse.ratio_of is 'rows', it must be one of work, tokens"),
        ({"disk": 3}, "reuse.disk is 3, it must be a folder"),
        ({"disk": ""}, "reuse.disk is '', it must be a folder"),
        ({"disk": "a\0b"}, "reuse.disk is 'a\\x00b', it must be a folder"),
        ({"disk": "~nobody-of-this-name/x"}, "reuse.disk is '~nobody-of-this-name/x', it must be a folder"),
        ({"remote": 3}, "reuse.remote is 3, it must be file:///FOLDER or mooncake://HOST:PORT"),
        (
            {"remote": "/mnt/segments"},
            "reuse.remote is '/mnt/segments', it must be file:///FOLDER or mooncake://HOST:PORT",
        ),
        ({"remote": "file://mnt"}, "reuse.remote is 'file://mnt', it must name a folder, as file:///mnt/segments does"),
        ({"method": "value-deviation"}, "reuse.method is 'value-deviation', it must be one of attention-spread"),
        ({"method": ["epic"]}, "reuse.method is ['epic'], it must be one of"),
        (0, "reuse is 0, it must be an object"),
        ("", "reuse is '', it must be an object"),
        (["ratio"], "reuse is ['ratio'], it must be an object"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(given, said):
    with pytest.raises(ReuseSettingError) as raised:
        read_settings({"reuse": given})
    assert str(raised.value).startswith(said)


def test_a_key_that_nobody_reads_is_named(caplog):
    warn_of_unknown({"resue": True, "reuse": True, "pages": {}, "eviction": "stock"}, logging.getLogger("settings"))
    said = "reprise: kv_connector_extra_config.resue is no setting of RepriseConnector; did you mean reuse?"
    assert [record.getMessage() for record in caplog.records] == [said]


@pytest.mark.parametrize("tier", ["host_bytes", "disk_bytes"])
def test_memory_in_which_no_segment_finds_room_is_named(tier):
    row = RowShape(layers=2, heads=2, head_size=32, dtype=torch.float32)
    assert tokens_in(tier, 8 * row.bytes, row) == 8
    with pytest.raises(ReuseSettingError, match=rf"^reuse\.{tier} is 100, it must be 8352 at least: a token .* 1044"):
        tokens_in(tier, 100, row)


def test_more_host_memory_than_there_is_is_named():
    check_memory(1 << 20)
    with pytest.raises(ReuseSettingError, match=r"^reuse\.host_bytes is 1000000000000000, more than the \d+ bytes"):
        check_memory(10**15)


def test_a_missing_package_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments):
        if name.split(".")[0] == "reprise_reuse":
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ReuseSettingError, match=r"pip install \./kernels"):
        read_settings({"reuse": True})


@pytest.mark.parametrize(
    ("params", "ratio", "because"),
    [
        (None, 0.15, None),
        ({"do_remote_prefill": True}, 0.15, None),
        ({"reprise": {}}, 0.15, None),
        ({"reprise": {"reuse": 0.1}}, 0.1, None),
        ({"reprise": {"reuse": 0}}, 0.05, None),
        ({"reprise": {"ratio": 0.2}}, 0.15, "malformed_wish"),
        ({"reprise": {"reuse": 0.3}}, 0.3, None),
        ({"reprise": {"user": "ann", "borders": [5], "key": "k"}}, 0.15, None),
        ({"reprise": {"reuse": 0.9}}, 0.5, None),
        ({"reprise": {"reuse": "off"}}, 0.15, "off"),
        ({"reprise": {"reuse": "on"}}, 0.15, "malformed_wish"),
        ({"reprise": {"reuse": -1}}, 0.15, "malformed_wish"),
        ({"reprise": {"reuse": True}}, 0.15, "malformed_wish"),
        ({"reprise": {"spans": [[1, 2], [5, 9]]}}, 0.15, None),
        ({"reprise": {"reuse": None, "spans": None}}, 0.15, None),
        ({"reprise": {"spans": [[9, 5]]}}, 0.15, "malformed_wish"),
        ({"reprise": {"question": [2, 10]}}, 0.15, None),
        ({"reprise": {"question": [2, 11]}}, 0.15, None),
        ({"reprise": {"question": [-2, 11]}}, 0.15, "malformed_wish"),
        ({"reprise": {"question": [3, 2]}}, 0.15, "malformed_wish"),
        ({"reprise": {"question": [[2, 3]]}}, 0.15, "malformed_wish"),
        ({"reprise": {"question": []}}, 0.15, "malformed_wish"),
        ({"reprise": {"kept_from": 10}}, 0.15, None),
        ({"reprise": {"kept_from": 11}}, 0.15, "malformed_wish"),
        ({"reprise": {"kept_from": True}}, 0.15, "malformed_wish"),
        ({"reprise": {"spans": [[5, 1_000_000_000]]}}, 0.15, "malformed_wish"),
        ({"reprise": {"spans": [[1, -2]]}}, 0.15, "malformed_wish"),
        ({"reprise": {"spans": [[1, 2]] * 11}}, 0.15, "malformed_wish"),
        ({"reprise": []}, 0.15, "malformed_wish"),
    ],
)
def test_a_requests_wish_is_kept_within_the_operators_bounds(params, ratio, because):
    wish = read_wish(params, ReuseSettings(min_ratio=0.05, max_ratio=0.5), prompt_tokens=10)
    assert (wish.ratio, wish.stock_because) == (ratio, because)


def test_a_question_is_a_range_of_positions():
    assert read_wish({"reprise": {"question": [1, 20]}}, ReuseSettings(), 90).question == range(1, 20)
    # an estimate may lie beyond the end
    assert read_wish({"reprise": {"question": [80, 100]}}, ReuseSettings(), 90).question == range(80, 90)
    for empty in ([5, 5], [90, 100]):
        assert not read_wish({"reprise": {"question": empty}}, ReuseSettings(), 90).question
    assert read_wish({"reprise": {"question": None}}, ReuseSettings(), 90).question is None


def test_spans_are_borders():
    assert read_wish({"reprise": {"spans": [[1, 20], [20, 90]]}}, ReuseSettings(), 90).borders == {1, 20, 90}


def test_salts_and_adapters_have_namespaces_of_their_own():
    def request(salt, *lora):
        adapter = SimpleNamespace(lora_name=lora[0], lora_int_id=lora[1], lora_path=lora[2]) if lora else None
        return SimpleNamespace(cache_salt=salt, lora_request=adapter)

    def namespace_of(one):
        return Asked.of((), None, ReuseSettings(), keys_of(one), None, request=one).namespace

    kinds = [request(None), request(""), request("a"), request("a", "x", 1, "/x"), request("a", "x", 1, "/y")]
    assert len({namespace_of(one) for one in kinds}) == len(kinds)
    assert namespace_of(request("a")) == namespace_of(request("a"))
