"""The tools of the agents, and how each provider wants them described."""


def get_weather(city):
    return {"city": city, "temperature_c": 4, "sky": "snow"}


def web_search(q):
    return f"3 results for {q}: billing is down since 06:10; see the log of the service."


def fetch_log(service):
    """A megabyte, of which one line matters."""
    lines = [f"2026-11-23T06:{n // 600 % 60:02}:{n // 10 % 60:02}.{n % 10}00Z INFO  {service} request {n} took {n * 7919 % 900} ms" for n in range(14000)]
    lines[9311] = f"2026-11-23T06:10:11.000Z FATAL {service} cannot reach the ledger: certificate has expired"
    return "\n".join(lines)


TOOLS = {"get_weather": get_weather, "web_search": web_search, "fetch_log": fetch_log}
ABOUT = {"get_weather": ("Says what the weather is like.", "city"), "web_search": ("Searches the web.", "q"), "fetch_log": ("Fetches a log.", "service")}


def schema(argument):
    return {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}


OPENAI = [{"type": "function", "function": {"name": n, "description": d, "parameters": schema(a)}} for n, (d, a) in ABOUT.items()]
RESPONSES = [{"type": "function", "name": n, "description": d, "parameters": schema(a), "strict": False} for n, (d, a) in ABOUT.items()]
ANTHROPIC = [{"name": n, "description": d, "input_schema": schema(a)} for n, (d, a) in ABOUT.items()]
GEMINI = [{"functionDeclarations": [{"name": n, "description": d, "parameters": schema(a)} for n, (d, a) in ABOUT.items()]}]
CITE = {"citations": {"enabled": True, "threshold_chars": 3000}}
