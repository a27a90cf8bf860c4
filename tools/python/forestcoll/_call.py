"""Calls of the program's commands, and what they answer."""

import json
import os
import sys
import tempfile
import warnings
from fractions import Fraction
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._native import Diagnostic

Files = Dict[str, bytes]

#: Options whose values are one list with commas; others that take several values are repeated.
_WITH_COMMAS = frozenset({"algorithms", "members", "ranks", "sizes"})

#: Exit codes of commands that have an answer: done, and the answer is no.
_DONE, _ANSWER_IS_NO = 0, 1


class Error(Exception):
    """What is wrong with an input, where, and what to do about it."""

    #: The first error's code, such as "E05"; "" after an internal error.
    code: str
    #: Where it is: the file, and the place in it, as far as they are known.
    place: str
    #: What to do about it; may be empty.
    remedy: str
    #: All errors and warnings.
    diagnostics: List[Diagnostic]
    #: What the command line would have exited with (docs/commands.md).
    exit_code: int

    def __init__(self, diagnostics: Sequence[Diagnostic], exit_code: int, said: str = "") -> None:
        self.diagnostics = list(diagnostics)
        self.exit_code = exit_code
        errors = [finding for finding in diagnostics if finding.severity == "error"]
        first = errors[0] if errors else None
        self.code = first.code if first else ""
        self.place = ": ".join(filter(None, (first.file, first.where))) if first else ""
        self.remedy = first.remedy if first else ""
        super().__init__("\n".join(map(str, errors)) or said.strip())

    def __reduce__(self) -> Tuple[Any, ...]:
        """For pickle, which carries it out of the processes of a pool."""
        return type(self), (self.diagnostics, self.exit_code, str(self))


class ForestcollWarning(UserWarning):
    """A warning about an input, such as a topology with a useless link."""


def call(words: Sequence[str], files: Optional[Mapping[str, bytes]] = None) -> _native.Answer:
    """Runs a command and returns its answer, whether that is yes or no; warnings are shown.

    Errors: Error where the command says that its input is wrong, does not fit, or cannot be read.
    """
    answer = _native.call([os.fspath(word) for word in words], dict(files or {}))
    for finding in answer.findings:
        if finding.severity == "warning":
            warnings.warn(str(finding), ForestcollWarning, stacklevel=_levels_to_caller())
    if answer.code not in (_DONE, _ANSWER_IS_NO):
        raise Error(answer.findings, answer.code, answer.notes)
    return answer


def _levels_to_caller() -> int:
    """For a warning of `call`: how many frames up the first one outside of this package is."""
    levels = 2
    while sys._getframe(levels).f_globals.get("__package__") == __package__:
        levels += 1
    return levels


def run(*words: str, files: Optional[Mapping[str, bytes]] = None) -> _native.Answer:
    """Runs `forestcoll WORDS...` in this process: any command but `batch`, with any options.

    `files` are in memory: a command reads them by their names, and where it writes to one of these
    names (give it as b""), the answer's `files` has it. Other names are files of the system.

    >>> run("topo", "check", "fabric.json", files={"fabric.json": text}).out
    """
    if next((word for word in map(os.fsdecode, words) if not word.startswith("-")), "") == "batch":
        raise ValueError("batch starts processes of the program: run it from the command line")
    return call(words, files)


def words_of(options: Mapping[str, Any]) -> Tuple[List[str], Files]:
    """Keyword arguments as options of the command line, and the files in memory that they name.

    `max_height=3` is --max-height 3, `global_=2` --global 2, `unfused=True` --unfused, `k=4` -k 4;
    None and False leave an option out. A list gives an option several times (or is joined by
    commas, as `sizes`), a dictionary gives it as KEY=VALUE. A topology, a schedule or a matrix is
    given as a file.
    """
    words: List[str] = []
    files: Files = {}
    for name, value in options.items():
        is_short = name == "k"  # which has no long name
        option = "-k" if is_short else "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            for each in _values(name, value):
                word = each.put_into(files) if isinstance(each, Document) else str(each)
                words += [option, word] if is_short else [f"{option}={word}"]
    return words, files


def _values(name: str, value: Any) -> List[Any]:
    """What an option is given for one keyword: each is a word, or a Document."""
    if name == "demand" and not isinstance(value, (str, os.PathLike, Document)):
        rows = [[_whole(amount) for amount in row] for row in value]
        return [Document(json.dumps(rows), "demand.json")]
    if isinstance(value, Mapping):
        return [f"{key}={each}" for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [",".join(map(str, value))] if name in _WITH_COMMAS else list(value)
    return [value]


def _whole(amount: Any) -> int:
    """A number of bytes, of any type. Errors: ValueError where it is not whole."""
    whole = int(amount)
    if whole != amount:
        raise ValueError(f"demand: expected whole numbers of bytes, found {amount!r}")
    return whole


class Document:
    """A text with the name by which commands and their messages know it."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file

    def put_into(self, files: Files) -> str:
        """Adds it to files in memory and returns its name there, another one where it is taken."""
        name = self.file
        while name in files:
            name = f"{len(files)}/{self.file}"
        files[name] = self.text.encode(errors="surrogateescape")
        return name

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the text to a file, whole or not at all.

        Errors: OSError where it cannot be written; the file is then what it was before.
        """
        target = os.path.realpath(path)
        handle, temporary = tempfile.mkstemp(prefix=".forestcoll-", dir=os.path.dirname(target))
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(self.text.encode(errors="surrogateescape"))
            os.chmod(temporary, _mode_of(target))
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise


def _mode_of(path: str) -> int:
    """The permissions of a file, or those that a new one would have."""
    try:
        return os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def exact(value: Mapping[str, Any]) -> Any:
    """{"exact": "1040/3", "value": …} of a report as a Fraction; other objects as they are."""
    if set(value) == {"exact", "value"}:
        return Fraction(value["exact"])
    return dict(value)


def report_of(text: bytes) -> Dict[str, Any]:
    """A report in JSON, its exact numbers as Fractions."""
    report: Dict[str, Any] = json.loads(text, object_hook=exact)
    return report
