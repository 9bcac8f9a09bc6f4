"""Judges the files of test/dialects: that their shapes, and what is sent after their sequences, are of the types that the providers publish
in the very versions that the files name.
"""

import importlib.metadata
import json
import pathlib
import sys

from anthropic.types.beta import BetaMessageParam
from published import CHECKS, forbid_unknown_keys, refused
from pydantic import TypeAdapter

forbid_unknown_keys()
# Blocks behind a beta header are in types of their own.
BETA = TypeAdapter(BetaMessageParam).validate_python
PACKAGES = {"anthropic": "anthropic", "gemini": "google-genai", "openai-chat": "openai", "openai-responses": "openai"}


def faults(form, message):
    """What the types say against a message."""
    found = refused(CHECKS[form], message)
    return refused(BETA, message) if found and form == "anthropic" else found


def of_its_own_types(form, name):
    """Chat has dialects: what only they have is of nobody's types."""
    return form != "openai-chat" or name.startswith("openai_")


def main(folder):
    judged, bad = 0, []
    for file in sorted(folder.glob("*/*.json")):
        content = json.loads(file.read_text())
        form, source = content["format"], content["source"]
        if source["sdk"] == PACKAGES[form] and source["version"] != importlib.metadata.version(source["sdk"]):
            bad.append(f"{file.name} is of {source['sdk']} {source['version']}, and another version is locked")
        listed = [(shape["name"], shape["messages"]) for shape in content.get("shapes", [])]
        if "sent" in content and of_its_own_types(form, file.stem):
            listed.append((file.stem, content["sent"]))
        for name, messages in listed:
            for message in messages:
                judged += 1
                if fault := faults(form, message):
                    bad.append(f"{form}, {name}: {fault}")
    print(f"{judged} messages judged")
    return bad


if __name__ == "__main__":
    sys.exit("\n".join(main(pathlib.Path(sys.argv[1]))) or None)
