"""Holds requests and answers of AgentCore Memory to botocore's model of the service: members, types, lengths, patterns, enums, unions, and
the signature. Reads one JSON object a line and answers with one."""

import base64
import hmac
import json
import re
import sys
import urllib.parse

import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

SERVICE = "bedrock-agentcore"
MODEL = botocore.session.get_session().get_service_model(SERVICE)


class Wrong(Exception):
    def __init__(self, where, why, code="ValidationException"):
        super().__init__(f"{where}: {why}")
        self.code = code


def routes():
    for name in MODEL.operation_names:
        op = MODEL.operation_model(name)
        if op.http["requestUri"].startswith("/memories/"):
            path = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(op.http["requestUri"]))
            yield op.http["method"], re.compile(f"^{path}$"), op


ROUTES = list(routes())
KINDS = {"string": str, "boolean": bool, "integer": int, "long": int, "double": (int, float), "float": (int, float), "timestamp": (int, float),
         "list": list, "map": dict, "structure": dict}


def check(shape, value, where):
    kind = shape.type_name
    if getattr(shape, "is_document_type", False):
        return
    if not isinstance(value, KINDS[kind]) or isinstance(value, bool) != (kind == "boolean"):
        raise Wrong(where, f"not a {kind}")
    check_size(shape, value, where)
    if kind == "structure":
        check_structure(shape, value, where)
    elif kind == "list":
        for i, each in enumerate(value):
            check(shape.member, each, f"{where}[{i}]")
    elif kind == "map":
        for key, each in value.items():
            check(shape.key, key, where + " key")
            check(shape.value, each, f"{where}[{key}]")


def check_size(shape, value, where):
    limits = shape.metadata
    if isinstance(value, str):
        if shape.type_name == "string" and shape.enum and value not in shape.enum:
            raise Wrong(where, f"none of {shape.enum}")
        if "pattern" in limits and not re.fullmatch(limits["pattern"], value):
            raise Wrong(where, f"does not match {limits['pattern']}")
    size = value if isinstance(value, (int, float)) else len(value)
    if not limits.get("min", size) <= size <= limits.get("max", size):
        raise Wrong(where, f"{size} is too small or too large")


def check_structure(shape, value, where):
    for name in value:
        if name not in shape.members:
            raise Wrong(where, f"has no member {name}")
    for name in shape.required_members:
        if value.get(name) is None:
            raise Wrong(where, f"{name} is required")
    if getattr(shape, "is_tagged_union", False) and sum(v is not None for v in value.values()) != 1:
        raise Wrong(where, "not exactly one member of a union")
    for name, each in value.items():
        if each is not None:
            check(shape.members[name], each, f"{where}.{name}")


def check_signature(ask, body):
    form = r"AWS4-HMAC-SHA256 Credential=([^/]+)/\d{8}/([^/]+)/([^/]+)/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)"
    got = re.match(form, ask["headers"].get("authorization", ""))
    if not got or got[1] != ask["key"] or got[3] != SERVICE:
        raise Wrong("authorization", "not ours", "UnrecognizedClientException")
    signed = {name: ask["headers"][name] for name in got[4].split(";") if name != "host"}
    request = AWSRequest(ask["method"], f"http://{ask['headers']['host']}{ask['uri']}", signed, body)
    request.context["timestamp"] = ask["headers"]["x-amz-date"]
    auth = SigV4Auth(Credentials(ask["key"], ask["secret"]), SERVICE, got[2])
    want = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    if not hmac.compare_digest(want, got[5]):
        raise Wrong("authorization", "the signature does not match", "InvalidSignatureException")


def check_request(ask):
    url = urllib.parse.urlsplit(ask["uri"])
    body = base64.b64decode(ask.get("body") or "")
    for method, path, op in ROUTES:
        found = path.match(url.path)
        if found and method == ask["method"]:
            break
    else:
        raise Wrong(url.path, "no such operation", "UnknownOperationException")
    check_signature(ask, body)
    value = {name: urllib.parse.unquote(v) for name, v in found.groupdict().items()}
    value.update(urllib.parse.parse_qsl(url.query))
    value.update(json.loads(body or b"{}"))
    check(op.input_shape, value, op.name)
    return op.name


def answer(ask):
    try:
        if "answer" in ask:
            check(MODEL.operation_model(ask["answer"]).output_shape, json.loads(base64.b64decode(ask["body"])), ask["answer"])
            return {}
        return {"operation": check_request(ask)}
    except Wrong as wrong:
        return {"code": wrong.code, "message": str(wrong)}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
