"""The compiled part: the commands of the program, with files in memory."""

from typing import Dict, List

version: str

class Diagnostic:
    """What is wrong with an input, where, and what to do about it."""

    def __init__(
        self, *, code: str, severity: str, file: str, where: str, message: str, remedy: str
    ) -> None:
        """As reports in JSON have it."""
    @property
    def code(self) -> str:
        """Such as "E05", as docs/diagnostics.md has them; empty where there is none."""
    @property
    def severity(self) -> str:
        """ "error" or "warning"."""
    @property
    def file(self) -> str:
        """The file that it is about; may be empty."""
    @property
    def where(self) -> str:
        """The place in the file, a JSON pointer or "line:column"; may be empty."""
    @property
    def message(self) -> str:
        """What was expected, and what was found."""
    @property
    def remedy(self) -> str:
        """What to do about it; may be empty."""

class Answer:
    """What a command said and wrote."""

    @property
    def code(self) -> int:
        """The exit code."""
    @property
    def findings(self) -> List[Diagnostic]:
        """Errors and warnings."""
    @property
    def out(self) -> bytes:
        """Standard output."""
    @property
    def notes(self) -> str:
        """Standard error, without the findings."""
    @property
    def files(self) -> Dict[str, bytes]:
        """The files in memory, as the command left them."""

def call(words: List[str], files: Dict[str, bytes]) -> Answer:
    """Runs `forestcoll WORDS`, which finds `files` in memory by their names.

    The GIL is released. Ctrl-C asks the command to stop and raises KeyboardInterrupt once it has.
    """
