from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

COMPACT_MODE_AI_SUMMARY: CompactMode
COMPACT_MODE_FIRST_N_CHARS: CompactMode
COMPACT_MODE_UNSPECIFIED: CompactMode
DESCRIPTOR: _descriptor.FileDescriptor
EXPIRATION_MODE_COMPACT: ExpirationMode
EXPIRATION_MODE_NONE: ExpirationMode
EXPIRATION_MODE_REMOVE: ExpirationMode
EXPIRATION_MODE_UNSPECIFIED: ExpirationMode
EXPIRATION_SOURCE_ACTION: ExpirationSource
EXPIRATION_SOURCE_AGENT_ACTION: ExpirationSource
EXPIRATION_SOURCE_EXPLICIT: ExpirationSource
EXPIRATION_SOURCE_OVERRIDE: ExpirationSource
EXPIRATION_SOURCE_POLICY: ExpirationSource
EXPIRATION_SOURCE_TOOL: ExpirationSource
EXPIRATION_SOURCE_UNSPECIFIED: ExpirationSource

class Expiration(_message.Message):
    __slots__ = ["compact_length", "compact_mode", "compact_prompt_id", "mode", "preserve_original_content", "source", "turns"]
    COMPACT_LENGTH_FIELD_NUMBER: _ClassVar[int]
    COMPACT_MODE_FIELD_NUMBER: _ClassVar[int]
    COMPACT_PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    PRESERVE_ORIGINAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    compact_length: int
    compact_mode: CompactMode
    compact_prompt_id: str
    mode: ExpirationMode
    preserve_original_content: bool
    source: ExpirationSource
    turns: int
    def __init__(self, turns: _Optional[int] = ..., mode: _Optional[_Union[ExpirationMode, str]] = ..., compact_mode: _Optional[_Union[CompactMode, str]] = ..., compact_length: _Optional[int] = ..., compact_prompt_id: _Optional[str] = ..., preserve_original_content: bool = ..., source: _Optional[_Union[ExpirationSource, str]] = ...) -> None: ...

class ExpirationOverride(_message.Message):
    __slots__ = ["compact_length", "compact_mode", "compact_prompt_id", "disable_expiration", "mode", "preserve_original_content", "turns"]
    COMPACT_LENGTH_FIELD_NUMBER: _ClassVar[int]
    COMPACT_MODE_FIELD_NUMBER: _ClassVar[int]
    COMPACT_PROMPT_ID_FIELD_NUMBER: _ClassVar[int]
    DISABLE_EXPIRATION_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    PRESERVE_ORIGINAL_CONTENT_FIELD_NUMBER: _ClassVar[int]
    TURNS_FIELD_NUMBER: _ClassVar[int]
    compact_length: int
    compact_mode: CompactMode
    compact_prompt_id: str
    disable_expiration: bool
    mode: ExpirationMode
    preserve_original_content: bool
    turns: int
    def __init__(self, turns: _Optional[int] = ..., mode: _Optional[_Union[ExpirationMode, str]] = ..., compact_mode: _Optional[_Union[CompactMode, str]] = ..., compact_length: _Optional[int] = ..., compact_prompt_id: _Optional[str] = ..., preserve_original_content: bool = ..., disable_expiration: bool = ...) -> None: ...

class ExpirationMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class CompactMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class ExpirationSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
