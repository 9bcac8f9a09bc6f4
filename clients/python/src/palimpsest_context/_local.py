"""A sidecar on this machine, for as long as the program wants it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import weakref
from typing import Optional, Sequence

from .errors import LocalSidecarError

BINARY = "PALIMPSEST_BINARY"
NAMES = ("palimpsest", "sidecar")
PATIENCE = 10.0  # seconds until a sidecar that was asked to end is killed
LOGGED = 2000  # of the log's last characters in an error


class Local:
    """A process on a Unix socket, in a folder that its owner alone can enter."""

    def __init__(self, binary: Optional[str], data_dir: Optional[str], arguments: Sequence[str]) -> None:
        program = find(binary)
        # The path of a socket may have about a hundred bytes, so that the folder's name must be short.
        folder = tempfile.mkdtemp(prefix="palimpsest-")
        self.socket = os.path.join(folder, "p.sock")
        self.target = "unix://" + self.socket
        self._log = os.path.join(folder, "sidecar.log")
        store = ["--store", "bolt", "--data-dir", data_dir] if data_dir else ["--store", "memory"]
        with open(self._log, "wb") as log:
            try:
                # The pipe ends with this process however it ends, and the sidecar with the pipe.
                self._process = subprocess.Popen(
                    [program, "serve", "--until-stdin-ends", "--listen", self.target, *store, *arguments],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                )
            except OSError as failure:
                shutil.rmtree(folder, ignore_errors=True)
                raise LocalSidecarError(f"{program} does not start: {failure.strerror}") from failure
        self._end = weakref.finalize(self, end, self._process, folder)

    @property
    def pid(self) -> int:
        return self._process.pid

    def listens(self) -> bool:
        """Whether the socket is there. A process that has ended is an error, with what it said last."""
        if self._process.poll() is not None:
            raise self.failure(f"the sidecar ended with {self._process.returncode}")
        return os.path.exists(self.socket)

    def failure(self, what: str) -> LocalSidecarError:
        """An error that says what failed, and what the sidecar said last."""
        with open(self._log, encoding="utf-8", errors="replace") as log:
            said = log.read()[-LOGGED:].strip()
        return LocalSidecarError(f"{what}: {said or 'it said nothing'}")

    def stop(self) -> None:
        """Ends the process and removes its folder. A second call does nothing."""
        self._end()


def find(binary: Optional[str]) -> str:
    """The program to start: the one that is named, that of the environment, or the first on PATH."""
    named = binary or os.environ.get(BINARY)
    for name in (named,) if named else NAMES:
        found = shutil.which(name)
        if found:
            return found
    raise LocalSidecarError(f"{named} is no program" if named else f"no sidecar is on PATH: name its binary, or set {BINARY}")


def end(process: "subprocess.Popen[bytes]", folder: str) -> None:
    """Ends a sidecar: it goes when its standard input does."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)
