"""Bars that show the progress of the command, in notebooks and on terminals."""

from __future__ import annotations

import html
import re
import sys
import time
from typing import Any

QUICK = 1.0  # seconds of work without a bar, unless the caller asks for one
CELLS = 20


def bar_for(progress: bool | None) -> Bar | None:
    """Return a bar for the lines of progress, or None if nobody would see it.

    Parameters
    ----------
    progress : bool or None
        True shows progress, False does not. None shows it in notebooks and on terminals, for work of more than a second.
    """
    if progress is False or sys.stderr is None or getattr(sys.stderr, "closed", False):
        return None
    if _in_notebook():
        return NotebookBar(0 if progress else QUICK)
    if sys.stderr.isatty():
        return TerminalBar(0 if progress else QUICK)
    return Lines(0) if progress else None


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class Bar:
    """Shows lines such as "training: pass 3, 30 %, 12 s left"."""

    def __init__(self, delay: float) -> None:
        self._from = time.monotonic() + delay
        self._shown = False

    def update(self, line: str) -> None:
        """Show a line. An error says that nobody sees it: a thread that stopped for it would stop the command."""
        if time.monotonic() >= self._from:
            self._shown = True
            self._show(line)

    def close(self) -> None:
        """Remove the bar."""

    def _show(self, line: str) -> None:
        raise NotImplementedError


class Lines(Bar):
    """Lines of text for a stream that is no terminal: the first, and later ones after twice the time each."""

    WAIT = 2.0

    def __init__(self, delay: float) -> None:
        super().__init__(delay)
        self._step, self._next, self._wait = "", 0.0, self.WAIT

    def _show(self, line: str) -> None:
        now, step = time.monotonic(), line.split(":")[0]
        if step == self._step and now < self._next:
            return
        self._wait = self.WAIT if step != self._step else 2 * self._wait
        self._step, self._next = step, now + self._wait
        _write(line + "\n")


class TerminalBar(Bar):
    def _show(self, line: str) -> None:
        part = share(line)
        cells = "" if part is None else "#" * int(CELLS * part) + "." * (CELLS - int(CELLS * part)) + " "
        _write(f"\r{cells}{line[:79 - len(cells)]}\x1b[K")

    def close(self) -> None:
        if self._shown:
            _write("\r\x1b[K")


class NotebookBar(Bar):
    def __init__(self, delay: float) -> None:
        super().__init__(delay)
        self._display: Any = None

    def _show(self, line: str) -> None:
        from IPython.display import HTML, display
        part = share(line)
        bar = "" if part is None else f'<progress value="{part:.2f}" max="1" style="width: 20em"></progress> '
        shown = HTML(f"<div>{bar}{html.escape(line)}</div>")
        if self._display is None:
            self._display = display(shown, display_id=True)
        else:
            self._display.update(shown)

    def close(self) -> None:
        if self._display is not None:
            from IPython.display import HTML
            self._display.update(HTML(""))


def _write(text: str) -> None:
    sys.stderr.write(text)  # print writes to standard output if sys.stderr is None
    sys.stderr.flush()


def share(line: str) -> float | None:
    """Return the share that is done, from 0 to 1, or None if the line does not have it."""
    found = re.search(r", (\d+) %", line)
    return None if found is None else int(found[1]) / 100
