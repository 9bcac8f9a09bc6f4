"""The types of requests that the providers publish in their own packages, and what they say of a context.

Nothing is mended before it is judged, keys that a type does not name are refused, and what pydantic would read lazily is read.
"""

import json
import re
import sys

from anthropic.types import MessageParam, TextBlockParam
from google.genai import types as google
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import is_typeddict

JOINT = re.compile(r"\s*,\s*(?!\])|\s*").match
FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini")


def forbid_unknown_keys():
    """A TypedDict takes any key more than it names, and so would hide a misspelt one. Providers answer 400."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("openai.types", "anthropic.types")):
            for member in list(vars(module).values()):
                if is_typeddict(member):
                    member.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


forbid_unknown_keys()
CHECKS = {
    "openai-chat": TypeAdapter(ChatCompletionMessageParam).validate_python,
    "openai-responses": TypeAdapter(ResponseInputItemParam).validate_python,
    "anthropic": TypeAdapter(MessageParam).validate_python,
    "gemini": google.Content.model_validate,
}
SYSTEM_CHECKS = {
    "anthropic": TypeAdapter(list[TextBlockParam]).validate_python,
    "gemini": google.Content.model_validate,
}


def read_all(value):
    """Reads what pydantic leaves to be read: it judges the elements of an Iterable one by one, when somebody asks for them."""
    if isinstance(value, dict):
        value = value.values()
    elif isinstance(value, str) or not hasattr(value, "__iter__"):
        return
    elif hasattr(value, "model_fields_set"):
        return  # a model is read when it is made
    for element in value:
        read_all(element)


def refused(check, value):
    """What a type says against a value: a place and a kind of error, never the value."""
    try:
        read_all(check(value))
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        # Of a union every member complains. What got furthest is nearest to what was meant.
        nearest = max(found, key=lambda e: len(e["loc"]))
        place = ".".join(str(step) for step in nearest["loc"] if "[" not in str(step))
        return f"{nearest['type']} at {place}, {len(found)} errors in all"
    return None


class Reader:
    """Reads contexts, and judges an element of the same bytes once."""

    def __init__(self):
        self.known = {}

    def elements(self, form, text, fault):
        """The elements of a messages_json."""
        elements, decode, at = [], json.JSONDecoder().raw_decode, 1
        while text[at] != "]":
            element, end = decode(text, at)
            key = (form, text[at:end])
            if key not in self.known:
                self.known[key] = refused(CHECKS[form], element)
            if self.known[key]:
                kind = f"{element.get('type', 'message')} of {element.get('role', 'nobody')}"
                fault("type", f"[{len(elements)}] {kind}: {self.known[key]}")
            elements.append(element)
            at = JOINT(text, end).end()
        if text[0] != "[" or text[at:] != "]":
            fault("type", "no JSON array")
        return elements

    def system(self, form, text, fault):
        """The value of a system_json, None if there is none."""
        if not text:
            return None
        value = json.loads(text)
        if form not in SYSTEM_CHECKS:
            fault("type", "system: the format has none")
        elif error := refused(SYSTEM_CHECKS[form], value):
            fault("type", f"system: {error}")
        return value
