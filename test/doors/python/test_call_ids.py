"""The ids that adapters give to the calls of a view."""

import pytest
from palimpsest_context.adapters import call_ids


def chat(id, arguments='{"n":1}', text=None, result="done"):
    call = {"id": id, "type": "function", "function": {"name": "work", "arguments": arguments}}
    return [{"role": "assistant", "content": text, "tool_calls": [call]}, {"role": "tool", "tool_call_id": id, "content": result}]


def anthropic(id, n=1):
    call, result = {"type": "tool_use", "id": id, "name": "work", "input": {"n": n}}, {"type": "tool_result", "tool_use_id": id, "content": "done"}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def ids(messages):
    return [call["id"] for message in messages for call in call_ids._calls(message)]


def answered(messages):
    return [named[key] for message in messages for named, key in call_ids._results(message)]


@pytest.mark.parametrize("made", [chat, anthropic])
def test_restored_calls_and_results_have_the_ids_of_the_list(made):
    view = call_ids.restored(made("call_1") + made("call_2"), made("a") + made("b"))
    assert ids(view) == answered(view) == ["a", "b"]


def test_restored_arguments_spaced_otherwise_are_the_same():
    view = call_ids.restored(chat("call_1", '{"n":1,"m":2}'), chat("a", '{ "m": 2, "n": 1 }'))
    assert ids(view) == answered(view) == ["a"]


def test_restored_same_calls_are_told_apart_from_the_end():
    view = call_ids.restored(chat("call_2") + chat("call_3"), chat("a") + chat("b") + chat("c"))
    assert ids(view) == answered(view) == ["b", "c"]


def test_restored_call_that_was_changed_gets_an_id_of_no_other():
    view = call_ids.restored(chat("call_1", '{"n":"[left out]"}') + chat("call_2"), chat("x") + chat("call_1"))
    assert ids(view) == answered(view) == ["shown_call_1", "call_1"]


def test_restored_result_of_text_stays_as_it_is():
    said = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "gone"}]
    assert call_ids.restored([dict(message) for message in said], said) == said
