"""What docs/python.md shows is what Python prints."""

import doctest
import re
from pathlib import Path

import pytest
from conftest import ROOT

WRONG = """{"format": "forestcoll-topology", "version": 1,
 "nodes": [{"id": "gpu[0-1]", "type": "compute"}],
 "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": "50GBs"}]}"""


def test_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fabric.json").write_text(WRONG)
    page = (ROOT / "docs" / "python.md").read_text()
    sessions = re.findall(r"```python\n(>>>.*?)```", page, flags=re.DOTALL)
    assert len(sessions) == 2
    test = doctest.DocTestParser().get_doctest("\n".join(sessions), {}, "python.md", None, 0)
    said = []
    assert doctest.DocTestRunner().run(test, out=said.append).failed == 0, "".join(said)
    assert Path("x.xml").stat().st_size > 0
