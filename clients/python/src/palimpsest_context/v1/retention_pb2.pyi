from palimpsest_context.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AdditionalContent(_message.Message):
    __slots__ = ["always", "display_on_current_message", "header", "keep_last", "never", "parts", "plugin"]
    ALWAYS_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_ON_CURRENT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    KEEP_LAST_FIELD_NUMBER: _ClassVar[int]
    NEVER_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    always: Always
    display_on_current_message: bool
    header: str
    keep_last: int
    never: Never
    parts: _containers.RepeatedCompositeFieldContainer[_message_pb2.Part]
    plugin: str
    def __init__(self, plugin: _Optional[str] = ..., header: _Optional[str] = ..., display_on_current_message: bool = ..., never: _Optional[_Union[Never, _Mapping]] = ..., always: _Optional[_Union[Always, _Mapping]] = ..., keep_last: _Optional[int] = ..., parts: _Optional[_Iterable[_Union[_message_pb2.Part, _Mapping]]] = ...) -> None: ...

class Always(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class Never(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...
