"""What the providers' documentation demands beyond the types: pairs, ids, roles, texts that are empty.

Each check takes the elements of a context and calls fault(rule, where) for what it refuses. pairs() gives the calls with their
answers, and leading_system() the texts at the head, so that a record can be held to them.
"""

import re

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}").fullmatch
ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+").fullmatch
SPEAKER = re.compile(r"[^\s<|\\/>]{1,64}").fullmatch
GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}").fullmatch
DATA = (
    "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult",
    "toolCall", "toolResponse",
)  # fmt: skip


def check(form, system, elements, fault):
    if not elements:
        fault("empty", "no element")
        return
    {"openai-chat": chat, "openai-responses": responses, "anthropic": anthropic, "gemini": gemini}[form](elements, fault)
    for text in system_texts(form, system):
        if not text or form == "anthropic" and not text.strip():
            fault("empty", "a text of system")


def system_texts(form, system):
    if system is None:
        return []
    return [part["text"] for part in (system["parts"] if form == "gemini" else system)]


def content_texts(content):
    """The texts of a content that is a string or a list of parts."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or [] if "text" in part]


def leading_system(form, system, elements):
    """The system's texts before the first message of another role."""
    texts = system_texts(form, system)
    for element in elements:
        if element.get("role") != "system":
            break
        texts += content_texts(element["content"])
    return texts


# OpenAI: function calling, chat completions.


def chat(messages, fault):
    open_calls = []
    for i, m in enumerate(messages):
        if "name" in m and (m["role"] == "tool" or not SPEAKER(m["name"])):
            fault("name", f"[{i}] of who speaks")
        if m["role"] == "tool":
            if m["tool_call_id"] not in open_calls:
                fault("pair", f"[{i}] answers no open call")
            else:
                open_calls.remove(m["tool_call_id"])
            continue
        if open_calls:
            fault("pair", f"[{i}] stands before {len(open_calls)} answers")
        calls = m.get("tool_calls") or []
        if m.get("tool_calls") == []:
            fault("empty", f"[{i}] a list of no calls")
        open_calls = [call["id"] for call in calls]
        ids(open_calls, 40, i, fault)
        for call in calls:
            name(call["function"]["name"], NAME, i, fault)
        if not calls and not m.get("content") or "" in content_texts(m.get("content")):
            fault("empty", f"[{i}] content of {m['role']}")
    if open_calls:
        fault("pair", "open at the end")


def ids(found, longest, i, fault):
    if len(set(found)) < len(found):
        fault("id", f"[{i}] twice")
    if not all(1 <= len(found_id) <= longest for found_id in found):
        fault("id", f"[{i}] length")


def name(found, pattern, i, fault):
    if not pattern(found):
        fault("name", f"[{i}] of a tool")


# OpenAI: responses, function calling, reasoning.


def responses(items, fault):
    called, answered = [], []
    for i, item in enumerate(items):
        kind = item.get("type", "message")
        if kind == "message":
            if not item["content"] or "" in content_texts(item["content"]):
                fault("empty", f"[{i}] content of {item['role']}")
            assistant_content(item, i, fault)
        elif kind == "function_call":
            called.append(item["call_id"])
            name(item["name"], NAME, i, fault)
        elif kind == "function_call_output":
            if item["call_id"] not in called or item["call_id"] in answered:
                fault("pair", f"[{i}] answers no open call")
            answered.append(item["call_id"])
        elif kind == "reasoning":
            following = items[i + 1] if i + 1 < len(items) else {}
            if following.get("role") != "assistant" and following.get("type") not in ("function_call", "reasoning"):
                fault("pair", f"[{i}] reasoning without the item it precedes")
    ids(called, 64, "input", fault)
    if set(called) != set(answered):
        fault("pair", f"{len(called)} calls, {len(answered)} answers")


def assistant_content(item, i, fault):
    """The type lets the assistant say input_text; the API does not."""
    if item["role"] == "assistant" and isinstance(item["content"], list):
        if any(part["type"] not in ("output_text", "refusal") for part in item["content"]):
            fault("role", f"[{i}] input in the assistant's message")


# Anthropic: messages, tool use, extended thinking.


def anthropic(messages, fault):
    alternate(messages, "assistant", fault)
    used, open_calls = [], []
    for i, m in enumerate(messages):
        blocks = [{"type": "text", "text": m["content"]}] if isinstance(m["content"], str) else m["content"]
        if not blocks:
            fault("empty", f"[{i}] content")
        for block in blocks:
            anthropic_texts(block, i, fault)
        kinds = [block["type"] for block in blocks]
        if m["role"] == "user":
            results(blocks, kinds, open_calls, i, fault)
            open_calls = []
            continue
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        used += open_calls
        for block in blocks:
            if block["type"] == "tool_use":
                name(block["name"], NAME, i, fault)
                if not ANTHROPIC_ID(block["id"]):
                    fault("id", f"[{i}] pattern")
        thoughts = [k for k, kind in enumerate(kinds) if kind in ("thinking", "redacted_thinking")]
        if thoughts != list(range(len(thoughts))) or thoughts and len(thoughts) == len(kinds):
            fault("pair", f"[{i}] thinking that does not stand before something")
    ids(used, 64, "messages", fault)


def results(blocks, kinds, open_calls, i, fault):
    answers = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    if "tool_result" in kinds[len(answers) :]:
        fault("pair", f"[{i}] results behind something else")
    if sorted(answers) != sorted(open_calls):
        fault("pair", f"[{i}] {len(answers)} results for {len(open_calls)} calls")
    if set(kinds) & {"tool_use", "thinking", "redacted_thinking", "server_tool_use"}:
        fault("role", f"[{i}] a block of the assistant's")


def anthropic_texts(block, i, fault):
    texts = [block["text"]] if block["type"] == "text" else []
    if block["type"] == "tool_result":
        content = block.get("content", [])
        texts += [] if isinstance(content, str) else content_texts(content)
        if block.get("is_error") and not content:
            fault("empty", f"[{i}] an error that says nothing")
    if block["type"] == "thinking" and not block["signature"]:
        fault("empty", f"[{i}] a signature")
    if any(not text.strip() for text in texts):
        fault("empty", f"[{i}] text of white space alone")


def alternate(messages, other, fault):
    roles = [m["role"] for m in messages]
    if roles != ["user", other] * (len(roles) // 2) + ["user"]:
        fault("role", "the user first and last, and in turns")


# Gemini: generateContent, function calling, thought signatures.


def gemini(contents, fault):
    alternate(contents, "model", fault)
    open_calls = []
    for i, content in enumerate(contents):
        parts = content.get("parts")
        if not parts:
            fault("empty", f"[{i}] parts")
        for part in parts:
            if len([key for key in part if key in DATA]) != 1:
                fault("type", f"[{i}] a part is one thing")
            if part.get("text") == "" or part.get("thought") and not part.get("thoughtSignature"):
                fault("empty", f"[{i}] a text or a signature")
        calls = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        answers = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        if answers != open_calls:
            fault("pair", f"[{i}] {len(answers)} responses for {len(open_calls)} calls, or of other names")
        if calls and content["role"] != "model" or answers and content["role"] != "user":
            fault("role", f"[{i}] a call of the user's, or a response of the model's")
        for called in calls:
            name(called, GEMINI_NAME, i, fault)
        open_calls = calls
    if open_calls:
        fault("pair", "open at the end")


# What a context says of calls, in one shape for all formats.


def pairs(form, elements):
    """Names of called tools with the text of their answers, in the order of the calls."""
    return {"openai-chat": chat_pairs, "openai-responses": responses_pairs, "anthropic": anthropic_pairs, "gemini": gemini_pairs}[
        form
    ](elements)


def chat_pairs(messages):
    found, by_id = [], {}
    for m in messages:
        for call in m.get("tool_calls") or []:
            by_id[call["id"]] = pair = [call["function"]["name"], None]
            found.append(pair)
        if m["role"] == "tool":
            by_id[m["tool_call_id"]][1] = "".join(content_texts(m["content"]))
    return found


def responses_pairs(items):
    answers = {item["call_id"]: item["output"] for item in items if item.get("type") == "function_call_output"}
    return [[item["name"], answers.get(item["call_id"])] for item in items if item.get("type") == "function_call"]


def anthropic_pairs(messages):
    blocks = [block for m in messages if not isinstance(m["content"], str) for block in m["content"]]
    answers = {b["tool_use_id"]: "".join(content_texts(b.get("content"))) for b in blocks if b["type"] == "tool_result"}
    return [[block["name"], answers.get(block["id"])] for block in blocks if block["type"] == "tool_use"]


def gemini_pairs(contents):
    parts = [part for content in contents for part in content["parts"]]
    answers = [list(part["functionResponse"]["response"].values())[0] for part in parts if "functionResponse" in part]
    calls = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
    return [list(pair) for pair in zip(calls, answers, strict=False)]
