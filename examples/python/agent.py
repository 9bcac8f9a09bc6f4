"""What the examples share: a sidecar at an address, and messages in few words."""

import json

from palimpsest_context import Palimpsest
from palimpsest_context.v1 import context_pb2, context_service_pb2 as api, conversation_service_pb2 as record, message_pb2


class Sidecar:
    """The sidecar at an address, as a client and as the stubs of its services. Each call ends after ten seconds."""

    def __init__(self, address):
        self.client = Palimpsest(address)
        self.context, self.record, self.policy = self.client.raw.context, self.client.raw.conversation, self.client.raw.policy

    def create(self, conversation, policy):
        created = record.Conversation(id=conversation, policy=policy)
        self.record.CreateConversation(record.CreateConversationRequest(conversation=created))

    def append(self, conversation, message, **more):
        """Puts a message on record and returns its index."""
        request = api.AppendMessageRequest(conversation_id=conversation, message=message, **more)
        return self.context.AppendMessage(request).receipt.index

    def build(self, conversation, **more):
        """Begins the next turn, and returns the answer and the messages in it."""
        more.setdefault("format", context_pb2.CONTEXT_FORMAT_OPENAI_CHAT)
        built = self.context.BuildContext(api.BuildContextRequest(conversation_id=conversation, **more))
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
