"""The toy that every framework plays: its tools, what it is asked, and what the strict fakes saw of it."""

import json
import os
import urllib.request

POLICY = {"citations": {"enabled": True, "threshold_chars": 3000}}
SYSTEM = "You are terse."
QUESTION = "Find out why billing fails, and tell me the weather."
AGAIN = "Say that twice."
FATAL = "FATAL payment gateway refused certificate 7731"
FAKES = os.environ.get("PALIMPSEST_FAKES", "")  # host:port


def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return f"{city}: 14 degrees, light rain."


def web_search(q: str) -> str:
    """Searches the web."""
    return f"Nothing new about {q!r}."


def fetch_log(service: str) -> str:
    """Returns the log of a service."""
    lines = [f"2026-11-23T10:{i // 60 % 60:02}:{i % 60:02}Z INFO {service} worker {i} settled invoice {i * 7919}" for i in range(15_000)]
    lines[9_000] = f"2026-11-23T10:30:00Z {FATAL}"
    return "\n".join(lines)


def stats() -> dict:
    """What the fakes counted since the last reset."""
    with urllib.request.urlopen(f"http://{FAKES}/stats", timeout=10) as answer:
        return json.load(answer)


def reset() -> None:
    urllib.request.urlopen(urllib.request.Request(f"http://{FAKES}/reset", method="POST"), timeout=10).close()
