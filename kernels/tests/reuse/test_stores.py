"""What every store promises, of each kind; Mooncake's where it is installed."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from reprise_reuse.stores import mooncake_store
from reprise_reuse.stores.folder_store import FolderStore
from reprise_reuse.stores.store import Store, store_at

MiB = 1 << 20


class Master:
    """A process of Mooncake's master."""

    def __init__(self, folder: Path) -> None:
        self.program = Path(mooncake_or_skip().__file__).parent / "mooncake_master"
        self.port, self.log = free_port(), folder / "master.log"
        self.start()

    def start(self) -> None:
        command = [str(self.program), "--rpc_port", str(self.port), "--metrics_port", str(free_port())]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ)
        wait_for(lambda: is_listening(self.port))

    def address(self, segment_bytes: int) -> str:
        return f"mooncake://127.0.0.1:{self.port}?segment_bytes={segment_bytes}&buffer_bytes={64 * MiB}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def mooncake_or_skip() -> ModuleType:
    """Mooncake's client; its package alone is of no use without Debian's libraries."""
    why = "needs mooncake-transfer-engine, libibverbs1 and librdmacm1"
    return pytest.importorskip("mooncake.store", reason=why, exc_type=ImportError)


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(condition: Callable[[], object], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Master]:
    master = Master(tmp_path_factory.mktemp("mooncake"))
    yield master
    master.kill()


@pytest.fixture(scope="module", params=["folder", "mooncake"])
def stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """Two engines' connections to one store."""
    if request.param == "folder":
        folder = tmp_path_factory.mktemp("store").as_uri()
        addresses = folder, folder
    else:
        master = request.getfixturevalue("master")
        addresses = master.address(128 * MiB), master.address(0)
    both = [store_at(address)() for address in addresses]
    yield tuple(both)
    for store in both:
        store.close()


def test_what_one_engine_writes_the_other_reads(stores):
    one, other = stores
    value = bytes(range(256)) * 9
    one.put("aa11", value)
    assert other.get(["ab00", "aa11", "ab01"]) == [None, value, None]
    assert other.get([]) == []


def test_a_value_takes_the_place_of_the_one_before_whoever_wrote_it(stores):
    one, other = stores
    one.put("bb", b"first")
    assert other.get(["bb"]) == [b"first"]
    other.put("bb", b"second, which is longer")
    one.put("bc", b"new")
    assert one.get(["bb", "bc"]) == other.get(["bb", "bc"]) == [b"second, which is longer", b"new"]


def test_values_of_many_megabytes_come_back_whole(stores):
    value = os.urandom(24 * MiB)
    stores[0].put("cc", value)
    assert stores[1].get(["cc"]) == [value]


def test_a_value_that_is_replaced_while_it_is_read_is_made_of_the_two(stores):
    one, other = stores
    one.put("dd", b"0" * MiB)
    writers = threading.Thread(target=lambda: [one.put("dd", b"%d" % (n % 2) * MiB) for n in range(40)])
    writers.start()
    read = set()
    while writers.is_alive():
        read.update(bytes(value) for value in other.get(["dd"]) if value is not None)
    writers.join()
    assert read and all(len(value) == MiB and value.strip(b"01") == b"" for value in read)


def test_all_threads_may_call_at_once(stores):
    failed = []

    def work(number: int) -> None:
        for turn in range(10):
            key, value = f"ee{number}x{turn}", os.urandom(1000)
            stores[number % 2].put(key, value)
            if stores[turn % 2].get([key]) != [value]:
                failed.append(key)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_folder_that_is_none_refuses_both_and_files_are_their_user_s_alone(tmp_path):
    (tmp_path / "file").touch()
    store = FolderStore(tmp_path / "file")
    with pytest.raises(OSError, match="Not a directory"):
        store.put("aa", b"1")
    with pytest.raises(OSError, match="Not a directory"):
        store.get(["aa"])
    store = FolderStore(tmp_path / "folder")
    assert store.get(["aa"]) == [None]
    store.put("aa", b"1")
    (path,) = (one for one in (tmp_path / "folder").rglob("*") if one.is_file())
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o077 == 0


def test_a_read_marks_a_file_as_used_and_no_link_or_pipe_is_followed(tmp_path):
    store = FolderStore(tmp_path)
    store.put("aa", b"1")
    path = tmp_path / "aa" / "aa"
    os.utime(path, (0, 0))
    assert store.get(["aa"]) == [b"1"] and path.stat().st_mtime > 1
    (tmp_path / "aa" / "aab").symlink_to(path)
    os.mkfifo(tmp_path / "aa" / "aac")
    (tmp_path / "aa" / "aad").mkdir()
    held = len(list(Path("/proc/self/fd").iterdir()))
    # one file that is none costs nothing but itself
    assert store.get(["aab", "aac", "aad", "aa"]) == [None, None, None, b"1"]
    assert len(list(Path("/proc/self/fd").iterdir())) == held


def test_a_folder_is_made_for_its_user_alone_and_one_that_others_reach_is_named_once(tmp_path, caplog):
    umask = os.umask(0o022)
    try:
        FolderStore(tmp_path / "made").put("aa", b"1")
    finally:
        os.umask(umask)
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o700 and not caplog.text
    # a place where nothing is mounted
    with pytest.raises(FileNotFoundError, match="nowhere"):
        FolderStore(tmp_path / "nowhere" / "here").put("aa", b"1")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    store = FolderStore(tmp_path / "open")
    for key in ("aa", "bb"):
        store.put(key, b"1")
    assert caplog.text.count(f"other users have access to {tmp_path / 'open'}: chmod 700") == 1


class HangingClientDouble:
    """A client of Mooncake whose connection takes until it may go on."""

    may_go_on = threading.Event()
    begun = threading.Event()
    made = 0

    def setup(self, *_: object) -> int:
        HangingClientDouble.made += 1
        self.begun.set()
        self.may_go_on.wait(10)
        return -1


def test_a_connection_that_hangs_does_not_keep_a_store_from_closing_and_none_is_made_behind(monkeypatch):
    module = ModuleType("mooncake.store")
    module.MooncakeDistributedStore = HangingClientDouble
    monkeypatch.setitem(sys.modules, "mooncake", ModuleType("mooncake"))
    monkeypatch.setitem(sys.modules, "mooncake.store", module)
    monkeypatch.setattr(mooncake_store, "_LONGEST_CLOSE", 0.01)
    monkeypatch.setattr(mooncake_store, "_check_that_it_answers", lambda settings: None)
    silent = socket.create_server(("127.0.0.1", 0))
    master = f"127.0.0.1:{silent.getsockname()[1]}"
    store = mooncake_store.MooncakeStore(master, local="127.0.0.1")
    failed = []

    def put() -> None:
        for _ in range(2):
            try:
                store.put("aa", b"1")
            except mooncake_store.MooncakeError as error:
                failed.append(str(error))

    writer = threading.Thread(target=put)
    writer.start()
    assert HangingClientDouble.begun.wait(10)
    store.close()
    HangingClientDouble.may_go_on.set()
    writer.join()
    silent.close()
    assert failed == [f"{master} cannot be reached: -1", f"the connection to {master} is closed"]
    assert HangingClientDouble.made == 1


def test_a_master_that_takes_connections_and_does_not_answer_stops_no_other_thread(monkeypatch):
    mooncake_or_skip()
    monkeypatch.setattr(mooncake_store, "_LONGEST_ANSWER", 3.0)
    failed = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        store = mooncake_store.MooncakeStore(f"127.0.0.1:{silent.getsockname()[1]}", local="127.0.0.1")

        def get() -> None:
            try:
                store.get(["aa"])
            except mooncake_store.MooncakeError as error:
                failed.append(str(error))

        reader = threading.Thread(target=get)
        reader.start()
        gaps, last = [], time.monotonic()
        while reader.is_alive():
            time.sleep(0.01)
            now = time.monotonic()
            gaps.append(now - last)
            last = now
        assert "does not answer within 3 s" in failed[0]
        assert len(gaps) > 30 and max(gaps) < 1


def test_a_call_that_hangs_keeps_others_for_a_while_only(monkeypatch):
    monkeypatch.setattr(mooncake_store, "_LONGEST_TURN", 0.1)
    buffer = mooncake_store._Buffer()
    with buffer.beside_others():
        with pytest.raises(mooncake_store.MooncakeError, match="do not end"), buffer.alone():
            raise AssertionError
        with buffer.beside_others():
            pass
    with buffer.alone(), pytest.raises(mooncake_store.MooncakeError, match="do not end"), buffer.beside_others():
        raise AssertionError
    with buffer.alone():
        pass


def test_values_that_together_exceed_the_buffer_are_read_one_after_the_other(tmp_path):
    master = Master(tmp_path)
    writer, reader = (store_at(master.address(size))() for size in (256 * MiB, 0))
    values = {f"ff{number}": os.urandom(24 * MiB) for number in range(6)}
    for key, value in values.items():
        writer.put(key, value)
    # 64 MiB of buffer
    assert reader.get(list(values)) == list(values.values())
    read = {}

    def get(key: str) -> None:
        read[key] = reader.get([key])

    threads = [threading.Thread(target=get, args=(key,)) for key in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == {key: [value] for key, value in values.items()}
    small = store_at(f"mooncake://127.0.0.1:{master.port}?segment_bytes=0&buffer_bytes={16 * MiB}")()
    with pytest.raises(mooncake_store.MooncakeError, match=f"{24 * MiB} bytes does not fit into buffer_bytes"):
        small.get(["ff0"])
    for store in (writer, reader, small):
        store.close()
    master.kill()


def test_a_full_cluster_refuses_what_has_no_room_and_one_that_was_gone_is_used_again(tmp_path):
    master = Master(tmp_path)
    store = store_at(master.address(32 * MiB))()
    with pytest.raises(Exception, match="answers -"):
        store.put("full", bytes(40 * MiB))
    store.put("small", b"1")
    master.kill()
    with pytest.raises(Exception, match="answers -"):
        store.get(["small"])
    master.start()

    def works() -> bool:
        try:
            store.put("after", b"2")
            return store.get(["after"]) == [b"2"]
        except Exception:
            return False

    wait_for(works, 40)
    store.close()
    master.kill()


def test_a_cluster_that_is_not_there_yet_is_used_once_it_is(tmp_path):
    mooncake_or_skip()
    port = free_port()
    store = store_at(f"mooncake://127.0.0.1:{port}?segment_bytes={16 * MiB}")()
    for _ in range(2):
        with pytest.raises(OSError, match="refused"):
            store.get(["aa"])


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("/mnt/segments", "it must be file:///FOLDER or mooncake://HOST:PORT"),
        ("file://mnt/segments", "it must name a folder"),
        ("file:///", "it must name a folder"),
        ("mooncake://host", "it must be file:///FOLDER or mooncake://HOST:PORT"),
        ("mooncake://host:1/path", "it must be file:///FOLDER or mooncake://HOST:PORT"),
        ("mooncake://host:99999", "Port out of range"),
        ("mooncake://host:1?segment=5", "segment is no option of mooncake://"),
        ("mooncake://host:1?segment_bytes=many", "segment_bytes must be a number of bytes"),
        ("mooncake://host:1?buffer_bytes=0", "buffer_bytes must be 1048576 or more"),
        ("s3://bucket/path", "it must be file:///FOLDER or mooncake://HOST:PORT"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_with_what_it_must_be(address, why):
    with pytest.raises(ValueError, match=why):
        store_at(address)
