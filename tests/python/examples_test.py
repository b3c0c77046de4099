# SPDX-FileCopyrightText: The gdrkit authors
# SPDX-License-Identifier: MIT
"""The programs of examples/python and those that docs/python.md shows, as written."""
import os
import re
import sys
from pathlib import Path

import pytest
from jobs import gdrkit_program, run_all_well, run_ok

SOURCE = Path(os.environ.get("GDRKIT_SOURCE", Path(__file__).parents[2]))
EXAMPLES = SOURCE / "examples" / "python"


def programs():
    """The fenced programs of docs/python.md that stand for themselves: those that import gdrkit."""
    text = (SOURCE / "docs" / "python.md").read_text(encoding="utf-8")
    return [program for program in re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
            if "import gdrkit" in program or "from gdrkit" in program]


@pytest.mark.parametrize("name, line", [("first_copy", "the device has what the CPU stored"),
                                        ("poll_flag", "the CPU saw 100 of 100 flags")])
def test_example_runs(name, line):
    assert line in run_ok(sys.executable, str(EXAMPLES / f"{name}.py"))


@pytest.mark.parametrize("n_pes", [1, 2, 3])
def test_ring_runs_with_torchrun_variables(n_pes):
    outputs = run_all_well(n_pes, (EXAMPLES / "shmem_ring.py").read_text(encoding="utf-8"))
    assert outputs == [f"PE {pe} of {n_pes}: 100 rounds of 1000 numbers from PE {(pe - 1) % n_pes}\n" for pe in range(n_pes)]


def test_ring_runs_under_gdrkit_run():
    output = run_ok(gdrkit_program(), "run", "-n", "2", "--emulated", "--", sys.executable, str(EXAMPLES / "shmem_ring.py"))
    assert "PE 0 of 2: 100 rounds" in output and "PE 1 of 2: 100 rounds" in output


def test_ignores_a_directory_named_gdrkit(tmp_path, monkeypatch):
    """Where pip installed the package into the current directory."""
    (tmp_path / "gdrkit").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GDRKIT_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="not built here"):
        gdrkit_program()


def test_first_documented_program_has_ten_lines_and_runs():
    first = programs()[0]
    assert len(first.splitlines()) <= 10
    assert run_ok(sys.executable, "-c", first) == "b'hello GPU' 1\n"


@pytest.mark.parametrize("index", range(1, len(programs())))
def test_other_documented_programs_run(index):
    program = programs()[index]
    if "import torch" in program:
        pytest.importorskip("torch", reason="PyTorch is not installed")
    if "numpy" in program:
        pytest.importorskip("numpy", reason="NumPy is not installed")
    run_ok(sys.executable, "-c", program)
