"""What the examples share: a sidecar at an address, and messages in few words."""

import json

import grpc

from palimpsest.v1 import context_pb2, context_service_pb2 as api, message_pb2
from palimpsest.v1.content_service_pb2_grpc import ContentServiceStub
from palimpsest.v1.context_service_pb2_grpc import ContextServiceStub
from palimpsest.v1.conversation_service_pb2_grpc import ConversationServiceStub
from palimpsest.v1.policy_service_pb2_grpc import PolicyServiceStub

SECONDS = 10  # of patience with every call


class Sidecar:
    """The services of the sidecar that listens at an address."""

    def __init__(self, address):
        channel = grpc.insecure_channel(address)
        self.context = ContextServiceStub(channel)
        self.content = ContentServiceStub(channel)
        self.record = ConversationServiceStub(channel)
        self.policy = PolicyServiceStub(channel)

    def append(self, conversation, message, **more):
        """Puts a message on record and returns its index."""
        request = api.AppendMessageRequest(conversation_id=conversation, message=message, **more)
        return self.context.AppendMessage(request, timeout=SECONDS).receipt.index

    def build(self, conversation, **more):
        """Begins the next turn, and returns the answer and the messages in it."""
        more.setdefault("format", context_pb2.CONTEXT_FORMAT_OPENAI_CHAT)
        built = self.context.BuildContext(api.BuildContextRequest(conversation_id=conversation, **more), timeout=SECONDS)
        return built, json.loads(built.rendered.messages_json)


def user(text):
    return message_pb2.Message(role=message_pb2.ROLE_USER, parts=[message_pb2.Part(text=text)])


def assistant(text):
    return message_pb2.Message(role=message_pb2.ROLE_ASSISTANT, parts=[message_pb2.Part(text=text)])


def call(call_id, name, **arguments):
    asked = message_pb2.ToolCall(call_id=call_id, name=name, arguments_json=json.dumps(arguments))
    return message_pb2.Message(role=message_pb2.ROLE_ASSISTANT, parts=[message_pb2.Part(tool_call=asked)])


def result(call_id, name, text, **more):
    """A tool's result. Policies for a tool are found by the name that stands here."""
    said = message_pb2.ToolResult(call_id=call_id, name=name, text=text, **more)
    return message_pb2.Message(role=message_pb2.ROLE_TOOL, parts=[message_pb2.Part(tool_result=said)])


def check(condition, what):
    """Says what holds, and ends the program if it does not."""
    if not condition:
        raise SystemExit(f"NOT SO: {what}")
    print(f"  {what}")
