"""Serves the routes of the server of the mem0 repository over the real package mem0ai, whose code adds, infers, searches and deletes.

That server is no package, and wants Postgres. This one keeps memories in a local Qdrant, and asks a model on loopback that answers by rules:
it embeds a text by its words, and draws as facts what a user's sentences say. Texts with MODEL_SAYS_<status> make it answer so.

    server.py FOLDER ADMIN_KEY USER_KEY

prints the port that it listens on, and ends with its standard input.
"""

import hashlib
import json
import os
import re
import struct
import sys
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

FOLDER, ADMIN_KEY, USER_KEY = sys.argv[1:4]
os.environ |= {"MEM0_TELEMETRY": "false", "MEM0_DIR": FOLDER + "/home", "ANONYMIZED_TELEMETRY": "false"}

from typing import Any, Optional  # noqa: E402

from mem0 import Memory  # noqa: E402
from mem0.exceptions import ValidationError as Mem0ValidationError  # noqa: E402
from pydantic import BaseModel, ValidationError  # noqa: E402

DIMENSIONS = 512
IDS = ("user_id", "agent_id", "run_id")
# One at a time: the local store breaks on more.
LOCK = threading.Lock()


class JSONHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def reply(self, status, value):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


# ---- The model.


def embedding(text):
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        vector[int.from_bytes(hashlib.sha256(word[:6].encode()).digest()[:4], "big") % DIMENSIONS] += 1.0
    length = sum(x * x for x in vector) ** 0.5 or 1.0
    return [x / length for x in vector]


def facts(prompt):
    _, _, rest = prompt.rpartition("## New Messages\n")
    new = rest.partition("\n\n## Observation Date")[0]
    found = []
    for line in new.splitlines():
        if line.startswith("user: "):
            found += [s for s in re.split(r"(?<=[.!?])\s+", line[6:].strip()) if len(s.split()) > 2]
    return found


class Model(JSONHandler):
    def do_POST(self):
        question = json.loads(self.body())
        texts = question["input"] if "input" in question else [question["messages"][-1]["content"]]
        texts = [texts] if isinstance(texts, str) else texts
        asked = re.search(r"MODEL_SAYS_(\d+)", " ".join(texts).rpartition("## New Messages")[2])
        if asked:
            return self.reply(int(asked[1]), {"error": {"message": "as asked", "type": "test"}})
        if "input" in question:
            data = []
            for i, text in enumerate(texts):
                vector = embedding(text)
                if question.get("encoding_format") == "base64":
                    vector = b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
                data.append({"object": "embedding", "index": i, "embedding": vector})
            return self.reply(200, {"object": "list", "model": "rules", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}})
        memory = [{"id": str(i), "text": fact, "attributed_to": "user"} for i, fact in enumerate(facts(texts[0]))]
        message = {"role": "assistant", "content": json.dumps({"memory": memory})}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.reply(200, {"id": "1", "object": "chat.completion", "created": 0, "model": "rules", "choices": [choice], "usage": usage})


# ---- The server's routes, as server/main.py of the repository has them.


class Message(BaseModel):
    role: str
    content: str


class MemoryCreate(BaseModel):
    messages: list[Message]
    user_id: Optional[str] = None
    agent_id: Optional[str] = None
    run_id: Optional[str] = None
    metadata: Optional[dict[str, Any]] = None
    infer: Optional[bool] = None


class SearchRequest(BaseModel):
    query: str
    filters: Optional[dict[str, Any]] = None
    top_k: Optional[int] = None
    threshold: Optional[float] = None
    show_expired: Optional[bool] = None


CODES = {
    "AuthenticationError": "provider_auth_failed",
    "PermissionDeniedError": "provider_auth_failed",
    "RateLimitError": "provider_rate_limited",
    "APITimeoutError": "provider_timeout",
    "APIConnectionError": "provider_unavailable",
    "InternalServerError": "provider_unavailable",
    "BadRequestError": "provider_bad_request",
    "UnprocessableEntityError": "provider_bad_request",
}


def upstream(error):
    code, seen = "unknown", set()
    while error is not None and id(error) not in seen and code == "unknown":
        seen.add(id(error))
        code = CODES.get(type(error).__name__, "unknown")
        error = error.__cause__ or error.__context__
    return 502, {"detail": "Upstream provider error.", "code": code, "request_id": "1"}


class Server(JSONHandler):
    memory: Memory

    def handle_call(self):
        url = urlsplit(self.path)
        query = {k: v[0] for k, v in parse_qs(url.query).items()}
        body = self.body()
        key = self.headers.get("x-api-key")
        if key not in (ADMIN_KEY, USER_KEY):
            return self.reply(401, {"detail": "Invalid API key."})
        try:
            with LOCK:
                status, answer = self.route(url.path, query, body, key == ADMIN_KEY)
        except ValidationError as e:
            status, answer = 422, {"detail": e.errors(include_input=False, include_url=False)}
        except (ValueError, Mem0ValidationError) as e:
            status, answer = 404 if "not found" in str(e).lower() else 400, {"detail": str(e)}
        except Exception as e:
            status, answer = upstream(e)
        self.reply(status, answer)

    do_GET = do_POST = do_DELETE = handle_call

    def route(self, path, query, body, admin):
        ids = {k: query[k] for k in IDS if query.get(k)}
        one = re.fullmatch(r"/memories/([^/]+)", path)
        match self.command, path:
            case "POST", "/memories":
                return self.add(MemoryCreate.model_validate_json(body))
            case "POST", "/search":
                asked = SearchRequest.model_validate_json(body)
                more = asked.model_dump(exclude_none=True, exclude={"query", "filters"})
                return 200, self.memory.search(query=asked.query, filters=asked.filters or {}, **more)
            case "GET", "/memories":
                if not ids:
                    return 403, {"detail": "Admin role required to list all memories."}
                top = int(query.get("top_k", 20))
                if not 0 <= top <= 1000:
                    return 422, {"detail": "top_k"}
                return 200, self.memory.get_all(filters=ids, top_k=top, show_expired=query.get("show_expired") == "true")
            case "DELETE", "/memories":
                if not admin:
                    return 403, {"detail": "Admin role required."}
                if not ids:
                    return 400, {"detail": "At least one identifier is required."}
                self.memory.delete_all(**ids)
                return 200, {"message": "All relevant memories deleted"}
            case "GET", _ if one:
                return 200, self.memory.get(one[1])
            case "DELETE", _ if one:
                self.memory.delete(memory_id=one[1])
                return 200, {"message": "Memory deleted successfully"}
        return 404, {"detail": "Not Found"}

    def add(self, asked):
        if not (asked.user_id or asked.agent_id or asked.run_id):
            return 400, {"detail": "At least one identifier (user_id, agent_id, run_id) is required."}
        more = asked.model_dump(exclude_none=True, exclude={"messages"})
        return 200, self.memory.add(messages=[m.model_dump() for m in asked.messages], **more)


def serve(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    model = {"api_key": "none", "openai_base_url": f"http://127.0.0.1:{serve(Model)}/v1", "model": "rules"}
    Server.memory = Memory.from_config({
        "version": "v1.1",
        "history_db_path": FOLDER + "/history.db",
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": FOLDER + "/qdrant", "on_disk": True, "collection_name": "memories", "embedding_model_dims": DIMENSIONS},
        },
        "llm": {"provider": "openai", "config": {**model, "temperature": 0}},
        "embedder": {"provider": "openai", "config": {**model, "embedding_dims": DIMENSIONS}},
    })
    # The package's own retries would make each fault of the model last for seconds.
    for part in (Server.memory.llm, Server.memory.embedding_model):
        part.client = part.client.with_options(max_retries=0)
    print(serve(Server), flush=True)
    sys.stdin.read()


main()
