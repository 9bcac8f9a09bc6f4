"""Proves the judge: contexts that are legal pass, and each of these with one thing changed does not."""

import json
import unittest

import published
import rules

LEGAL = {
    "openai-chat": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "look"}]},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}},
            {"id": "c2", "type": "function", "function": {"name": "list", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c2", "content": "two"},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "assistant", "content": "Done."},
    ],
    "openai-responses": [
        {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"role": "user", "content": [{"type": "input_image", "detail": "auto", "image_url": "https://e.example/a.png"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": "{}"},
        {"type": "function_call", "call_id": "c2", "name": "list", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c2", "output": "two"},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "message", "role": "assistant", "content": "Done."},
    ],
    "anthropic": [
        {"role": "user", "content": [{"type": "text", "text": "look"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "tool_use", "id": "c1", "name": "find", "input": {}},
            {"type": "tool_use", "id": "c2", "name": "list", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
            {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "two"}], "is_error": True},
            {"type": "text", "text": "and?"}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "look"}]},
        {"role": "model", "parts": [
            {"text": "hm", "thought": True, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "find", "args": {}}}, {"functionCall": {"name": "list", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "find", "response": {"result": "one"}}},
            {"functionResponse": {"name": "list", "response": {"result": "two"}}}, {"text": "and?"}]},
    ],
}  # fmt: skip
SYSTEMS = {"anthropic": [{"type": "text", "text": "Be brief."}], "gemini": {"parts": [{"text": "Be brief."}]}}
ILLEGAL = {  # the rule that must be broken, what is replaced, by what
    "openai-chat": [
        ("type", '"Done."', "5"),
        ("type", '"role": "user"', '"role": "model"'),
        ("type", '"role": "user"', '"role": "user", "turn": 1'),
        ("type", '"type": "text"', '"type": "output_text"'),
        ("type", '"id": "c1", ', ""),
        ("empty", '"Done."', '""'),
        ("id", '"c2"', '"c1"'),
        ("id", '"c1"', '"%s"' % ("c" * 41)),
        ("name", '"find"', '"fi nd"'),
        ("name", '"role": "user"', '"role": "user", "name": "Jo Ann"'),
        ("name", '"role": "user"', '"role": "user", "name": "%s"' % ("x" * 65)),
        ("pair", '"tool_call_id": "c2"', '"tool_call_id": "c1"'),
        ("pair", '{"role": "tool", "tool_call_id": "c1", "content": "one"}, ', ""),
    ],
    "openai-responses": [
        ("type", '"Done."', '[{"type": "output_text", "text": "Done."}]'),
        ("type", '"id": "rs_1", ', ""),
        ("type", '"id": "rs_1", ', '"id": "rs_1", "status": null, '),
        ("type", '"summary_text"', '"text"'),
        ("type", '"detail": "auto", ', ""),
        ("type", '"output": "two"', '"result": "two"'),
        ("role", '"Done."', '[{"type": "input_text", "text": "Done."}]'),
        ("empty", '"Done."', '""'),
        ("id", '"call_id": "c2", "name"', '"call_id": "c1", "name"'),
        ("name", '"find"', '"fi.nd"'),
        ("pair", '{"type": "function_call_output", "call_id": "c1", "output": "one"}, ', ""),
        ("pair", '"call_id": "c2", "output"', '"call_id": "c1", "output"'),
        ("pair", '{"type": "function_call", "call_id": "c1"', '{"role": "user", "content": "x"}, {"type": "function_call", "call_id": "c1"'),
    ],
    "anthropic": [
        ("type", '"signature": "sig"', '"signature": 1'),
        ("type", '"input": {}', '"input": "{}"'),
        ("type", '"is_error": true', '"error": true'),
        ("empty", '"and?"', '" "'),
        ("empty", '"two"', '"\\n"'),
        ("empty", '"sig"', '""'),
        ("id", '"c2"', '"c1"'),
        ("id", '"c1"', '"c.1"'),
        ("name", '"find"', '"fi.nd"'),
        ("pair", '{"type": "tool_result", "tool_use_id": "c1", "content": "one"}, ', ""),
        ("pair", '[{"type": "tool_result"', '[{"type": "text", "text": "x"}, {"type": "tool_result"'),
        ("pair", '{"type": "thinking", "thinking": "hm", "signature": "sig"}, ', '{"type": "text", "text": "x"}, {"type": "thinking", "thinking": "hm", "signature": "sig"}, '),
        ("role", '"role": "assistant"', '"role": "user"'),
    ],
    "gemini": [
        ("type", '"args": {}', '"args": "{}"'),
        ("type", '"result": "one"}', '"result": "one"}, "call": 1'),
        ("type", '{"text": "look"}', '{"text": "look", "functionCall": {"name": "find"}}'),
        ("empty", '"and?"', '""'),
        ("empty", ', "thoughtSignature": "c2ln"', ""),
        ("name", '"find"', '"fi nd"'),
        ("pair", '{"functionResponse": {"name": "find", "response": {"result": "one"}}}, ', ""),
        ("pair", '{"functionResponse": {"name": "find"', '{"functionResponse": {"name": "list"'),
        ("role", '"role": "model"', '"role": "user"'),
    ],
}  # fmt: skip


def judged(form, text, system=None):
    """The rules that a context breaks."""
    broken = []
    fault = lambda rule, where: broken.append(rule)
    reader = published.Reader()
    value = reader.system(form, json.dumps(system) if system else "", fault)
    elements = reader.elements(form, text, fault)
    if not broken:
        rules.check(form, value, elements, fault)
    return broken


class JudgeTest(unittest.TestCase):
    def test_legal_context_passes(self):
        for form, context in LEGAL.items():
            self.assertEqual(judged(form, json.dumps(context), SYSTEMS.get(form)), [], form)

    def test_illegal_context_fails(self):
        for form, cases in ILLEGAL.items():
            legal = json.dumps(LEGAL[form])
            for rule, old, new in cases:
                self.assertIn(old, legal)
                self.assertIn(rule, judged(form, legal.replace(old, new)), f"{form}: {old} became {new}")

    def test_illegal_system_fails(self):
        for form, system in (
            ("anthropic", [{"type": "text", "text": " "}]), ("anthropic", [{"text": "x"}]), ("gemini", {"parts": [{"text": ""}]}),
            ("gemini", {"content": "x"}), ("openai-chat", "x"),
        ):  # fmt: skip
            self.assertNotEqual(judged(form, json.dumps(LEGAL[form]), system), [], f"{form}: {system}")

    def test_pairs_are_read(self):
        for form, context in LEGAL.items():
            self.assertEqual(rules.pairs(form, context), [["find", "one"], ["list", "two"]], form)

    def test_empty_context_fails(self):
        for form in published.FORMATS:
            self.assertEqual(judged(form, "[]"), ["empty"], form)


unittest.main()
