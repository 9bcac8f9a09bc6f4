"""A typed client, for what mypy --strict says of the stubs.

    typed.py TARGET    such as 127.0.0.1:50051
"""

import sys
import uuid

import grpc
from google.rpc import error_details_pb2  # type: ignore[import-untyped]  # Google publishes no types of it
from grpc_status import rpc_status

from palimpsest.v1 import context_pb2, context_service_pb2 as api, message_pb2
from palimpsest.v1.context_service_pb2_grpc import ContextServiceStub


def append(stub: ContextServiceStub, conversation: str, text: str) -> int:
    message = message_pb2.Message(role=message_pb2.ROLE_USER, parts=[message_pb2.Part(text=text)])
    request = api.AppendMessageRequest(conversation_id=conversation, message=message)
    return stub.AppendMessage(request, timeout=5).receipt.index


def build(stub: ContextServiceStub, conversation: str) -> api.BuildContextResponse:
    request = api.BuildContextRequest(
        conversation_id=conversation, same_turn=True, format=context_pb2.CONTEXT_FORMAT_OPENAI_CHAT
    )
    return stub.BuildContext(request, timeout=5)


def reason(error: grpc.RpcError) -> str:
    info = error_details_pb2.ErrorInfo()
    status = rpc_status.from_call(error) if isinstance(error, grpc.Call) else None
    if status is None or not any(detail.Unpack(info) for detail in status.details):
        raise AssertionError("an error without ErrorInfo") from error
    return str(info.reason)


def main(target: str) -> None:
    stub = ContextServiceStub(grpc.insecure_channel(target))
    conversation = f"typed-{uuid.uuid4()}"
    try:
        build(stub, conversation)
    except grpc.RpcError as error:
        assert reason(error) == "CONVERSATION_NOT_FOUND", error
    assert append(stub, conversation, "Hello.") == 0
    assert b"Hello." in build(stub, conversation).rendered.messages_json


main(sys.argv[1])
