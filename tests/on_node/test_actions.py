from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpu_constructs.on_node.actions import ActionError, Count, Folder, Line, Run, Write
from gpu_constructs.on_node.host import Finished, Host, run_command


class Script:
    """Commands that answer one after the other."""

    def __init__(self, root: Path, *answers: Finished) -> None:
        self.ran: list[list[str]] = []
        self.waited: list[float] = []
        self._answers = iter(answers)
        self.host = Host(root=root, run_command=self._run, wait=self.waited.append)

    def _run(self, argv: Sequence[str], _: float) -> Finished:
        self.ran.append(list(argv))
        return next(self._answers)


REFUSED = Finished(5, "mount.lustre: mount fs@tcp:/abc at /fsx failed: Input/output error\nIs the MGS running?\n\n")
FINE = Finished(0, "")


def test_command_is_tried_until_it_succeeds(tmp_path: Path) -> None:
    script = Script(tmp_path, REFUSED, REFUSED, FINE)
    Run(argv=("mount", "/fsx"), tries=10, pause_seconds=6).perform(script.host)
    assert (len(script.ran), script.waited) == (3, [6, 6])


def test_command_that_never_succeeds_says_what_it_said_last_and_what_to_do(tmp_path: Path) -> None:
    script = Script(tmp_path, REFUSED, REFUSED)
    with pytest.raises(ActionError) as raised:
        Run(argv=("mount", "/fsx"), tries=2, remedy="open TCP 988").perform(script.host)
    assert str(raised.value) == "mount /fsx ended with code 5, 2 times: Is the MGS running?; open TCP 988"
    assert "Input/output error" in raised.value.tail
    assert script.waited == [6]  # not after the last


def test_command_that_says_nothing_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ActionError, match=r"^false ended with code 1: nothing was printed$"):
        Run(argv=("false",)).perform(Script(tmp_path, Finished(1, "")).host)


def test_tail_is_the_end_of_what_was_printed(tmp_path: Path) -> None:
    output = "\n".join(f"line {number}" for number in range(100))
    with pytest.raises(ActionError) as raised:
        Run(argv=("dnf",)).perform(Script(tmp_path, Finished(1, output)).host)
    assert raised.value.tail.splitlines() == [f"line {number}" for number in range(80, 100)]


def test_nothing_is_done_where_it_has_been_done(tmp_path: Path) -> None:
    script = Script(tmp_path, FINE)
    Run(argv=("mount", "/fsx"), unless=("mountpoint", "/fsx")).perform(script.host)
    assert script.ran == [["mountpoint", "/fsx"]]


def test_commands_are_real(tmp_path: Path) -> None:
    assert run_command(["sh", "-c", "echo out; echo err >&2; exit 3"], 60) == Finished(3, "out\nerr\n")
    assert run_command(["no-such-command"], 60) == Finished(127, "no-such-command: command not found")


def test_command_that_takes_too_long_is_stopped_with_what_it_started(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        ended = pool.submit(pipe.read_text)  # when nobody has it open any more
        assert run_command(["sh", "-c", f"sleep 3600 >{pipe} & wait"], 2) == Finished(124, "\nstopped after 2 s")
        assert ended.result(60) == ""


def test_what_a_command_leaves_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    done = run_command(["sh", "-c", "sleep 3600 & echo $!"], 60)
    os.kill(int(done.output), signal.SIGKILL)
    assert done.code == 0


def test_root_stands_in_words_for_the_root_folder(tmp_path: Path) -> None:
    assert Host(root=tmp_path).argv(["cat", "{root}/etc/fstab"]) == ["cat", f"{tmp_path}/etc/fstab"]
    assert Host().argv(["cat", "{root}/etc/fstab"]) == ["cat", "/etc/fstab"]


def test_file_is_written_whole_with_its_mode(tmp_path: Path) -> None:
    write = Write(path="/etc/a/b.conf", text="new\n", mode=0o600)
    write.perform(Host(root=tmp_path))
    write.perform(Host(root=tmp_path))
    file = tmp_path / "etc/a/b.conf"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new\n", 0o600)
    assert list(file.parent.iterdir()) == [file]


def test_line_takes_the_place_of_the_one_that_begins_alike(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    fstab = tmp_path / "etc/fstab"
    fstab.write_text("LABEL=/ / xfs\nLABEL=x /old ext4\nLABEL=y /y ext4")
    line = Line(path="/etc/fstab", text="LABEL=x /new ext4", key="LABEL=x")
    for _ in range(2):
        line.perform(Host(root=tmp_path))
        assert fstab.read_text() == "LABEL=/ / xfs\nLABEL=y /y ext4\nLABEL=x /new ext4\n"


def test_lines_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    host = Host(root=tmp_path)
    with ThreadPoolExecutor(16) as pool:
        for number in range(160):
            pool.submit(Line(path="/etc/fstab", text=f"{number} line", key=f"{number} ").perform, host)
    assert sorted((tmp_path / "etc/fstab").read_text().splitlines()) == sorted(
        f"{number} line" for number in range(160)
    )


def test_line_makes_the_file_where_there_is_none(tmp_path: Path) -> None:
    Line(path="/etc/fstab", text="a", key="a").perform(Host(root=tmp_path))
    assert (tmp_path / "etc/fstab").read_text() == "a\n"


def test_folder_is_there_with_its_mode(tmp_path: Path) -> None:
    for mode in (0o755, 0o700):
        Folder(path="/a/b", mode=mode).perform(Host(root=tmp_path))
        assert (tmp_path / "a/b").stat().st_mode & 0o777 == mode


GPUS = Count(what="GPUs", argv=("nvidia-smi", "-L"), pattern=r"GPU \d+:", expected=2, remedy="have it replaced")


def test_count_is_right(tmp_path: Path) -> None:
    GPUS.perform(Script(tmp_path, Finished(0, "GPU 0: A\nGPU 1: A\n  MIG GPU 2:\n")).host)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Finished(0, "GPU 0: A\n"), "1 GPUs instead of 2; have it replaced"),
        (Finished(0, "GPU 0: A\nGPU 1: A\nGPU 2: A\n"), "3 GPUs instead of 2"),
        (
            Finished(6, "No devices were found"),
            "nvidia-smi -L ended with code 6: No devices were found; have it replaced",
        ),
    ],
)
def test_count_that_is_wrong_says_both_numbers(tmp_path: Path, answer: Finished, words: str) -> None:
    with pytest.raises(ActionError, match=f"^{words}"):
        GPUS.perform(Script(tmp_path, answer).host)


def test_actions_say_what_they_do(tmp_path: Path) -> None:
    assert [
        str(Run(argv=("mount", "/a b"), unless=("mountpoint", "/a b"), tries=3, pause_seconds=2)),
        str(Write(path="/etc/a", text="one\ntwo\n")),
        str(Line(path="/etc/fstab", text="x /x", key="x")),
        str(Folder(path="/x", mode=0o1777)),
        str(GPUS),
    ] == [
        "unless mountpoint '/a b': mount '/a b' (up to 3 times, every 2 s)",
        "write /etc/a (644):\none\ntwo",
        "have in /etc/fstab: x /x",
        "have the folder /x (1777)",
        r"expect 2 GPUs: lines of nvidia-smi -L like GPU \d+:",
    ]
