"""Prints the module of the classes of errors: one for each reason in error.proto, with what stands above it there.

reasons.py ERROR_PROTO
"""

from __future__ import annotations

import re
import sys
import textwrap

HEAD = '''"""An error for each reason for which a call fails. Generated from error.proto."""

from __future__ import annotations

from typing import Dict, Type

from .errors import PalimpsestError

'''
VALUE = re.compile(r"((?:^  //.*\n)+)^  ERROR_REASON_(\w+) = [1-9]\d*;$", re.MULTILINE)


def class_name(reason: str) -> str:
    return "".join(word.capitalize() for word in reason.split("_")) + "Error"


def class_of(comment: str, reason: str) -> str:
    words = " ".join(line.strip().lstrip("/").strip() for line in comment.splitlines())
    text = textwrap.fill(words, 100, initial_indent='    """', subsequent_indent="    ")
    return f'class {class_name(reason)}(PalimpsestError):\n{text}"""\n'


def module(proto: str) -> str:
    values = VALUE.findall(proto)
    classes = "\n\n".join(class_of(comment, reason) for comment, reason in values)
    rows = "\n".join(f'    "{reason}": {class_name(reason)},' for _, reason in values)
    names = "\n".join(f'    "{class_name(reason)}",' for _, reason in sorted(values, key=lambda value: class_name(value[1])))
    return f"{HEAD}__all__ = [\n{names}\n]\n\n\n{classes}\n\nBY_REASON: Dict[str, Type[PalimpsestError]] = {{\n{rows}\n}}\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(module(file.read()).replace("'''", '"""'))
