from palimpsest_context.v1 import policy_pb2 as _policy_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DeleteActionPolicyRequest(_message.Message):
    __slots__ = ["action_id", "agent_action_id", "request_id", "tool_name"]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    agent_action_id: str
    request_id: str
    tool_name: str
    def __init__(self, agent_action_id: _Optional[str] = ..., action_id: _Optional[str] = ..., tool_name: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteActionPolicyResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class DeleteModelProfileRequest(_message.Message):
    __slots__ = ["model", "request_id"]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    model: str
    request_id: str
    def __init__(self, model: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeleteModelProfileResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class DeletePromptRequest(_message.Message):
    __slots__ = ["id", "request_id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    request_id: str
    def __init__(self, id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class DeletePromptResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class GetActionPolicyRequest(_message.Message):
    __slots__ = ["action_id", "agent_action_id", "tool_name"]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAME_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    agent_action_id: str
    tool_name: str
    def __init__(self, agent_action_id: _Optional[str] = ..., action_id: _Optional[str] = ..., tool_name: _Optional[str] = ...) -> None: ...

class GetActionPolicyResponse(_message.Message):
    __slots__ = ["policy"]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    policy: _policy_pb2.ActionPolicy
    def __init__(self, policy: _Optional[_Union[_policy_pb2.ActionPolicy, _Mapping]] = ...) -> None: ...

class GetModelProfileRequest(_message.Message):
    __slots__ = ["model"]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    model: str
    def __init__(self, model: _Optional[str] = ...) -> None: ...

class GetModelProfileResponse(_message.Message):
    __slots__ = ["profile"]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    profile: _policy_pb2.ModelProfile
    def __init__(self, profile: _Optional[_Union[_policy_pb2.ModelProfile, _Mapping]] = ...) -> None: ...

class GetPromptRequest(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetPromptResponse(_message.Message):
    __slots__ = ["prompt"]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    prompt: _policy_pb2.Prompt
    def __init__(self, prompt: _Optional[_Union[_policy_pb2.Prompt, _Mapping]] = ...) -> None: ...

class ListActionPoliciesRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListActionPoliciesResponse(_message.Message):
    __slots__ = ["next_page_token", "policies"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    policies: _containers.RepeatedCompositeFieldContainer[_policy_pb2.ActionPolicy]
    def __init__(self, policies: _Optional[_Iterable[_Union[_policy_pb2.ActionPolicy, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListModelProfilesRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListModelProfilesResponse(_message.Message):
    __slots__ = ["next_page_token", "profiles"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PROFILES_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    profiles: _containers.RepeatedCompositeFieldContainer[_policy_pb2.ModelProfile]
    def __init__(self, profiles: _Optional[_Iterable[_Union[_policy_pb2.ModelProfile, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListPromptsRequest(_message.Message):
    __slots__ = ["page_size", "page_token"]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPromptsResponse(_message.Message):
    __slots__ = ["next_page_token", "prompts"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PROMPTS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    prompts: _containers.RepeatedCompositeFieldContainer[_policy_pb2.Prompt]
    def __init__(self, prompts: _Optional[_Iterable[_Union[_policy_pb2.Prompt, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class PutActionPolicyRequest(_message.Message):
    __slots__ = ["policy", "request_id"]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    policy: _policy_pb2.ActionPolicy
    request_id: str
    def __init__(self, policy: _Optional[_Union[_policy_pb2.ActionPolicy, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class PutActionPolicyResponse(_message.Message):
    __slots__ = ["policy"]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    policy: _policy_pb2.ActionPolicy
    def __init__(self, policy: _Optional[_Union[_policy_pb2.ActionPolicy, _Mapping]] = ...) -> None: ...

class PutModelProfileRequest(_message.Message):
    __slots__ = ["profile", "request_id"]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    profile: _policy_pb2.ModelProfile
    request_id: str
    def __init__(self, profile: _Optional[_Union[_policy_pb2.ModelProfile, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class PutModelProfileResponse(_message.Message):
    __slots__ = ["profile"]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    profile: _policy_pb2.ModelProfile
    def __init__(self, profile: _Optional[_Union[_policy_pb2.ModelProfile, _Mapping]] = ...) -> None: ...

class PutPromptRequest(_message.Message):
    __slots__ = ["prompt", "request_id"]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    prompt: _policy_pb2.Prompt
    request_id: str
    def __init__(self, prompt: _Optional[_Union[_policy_pb2.Prompt, _Mapping]] = ..., request_id: _Optional[str] = ...) -> None: ...

class PutPromptResponse(_message.Message):
    __slots__ = ["prompt"]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    prompt: _policy_pb2.Prompt
    def __init__(self, prompt: _Optional[_Union[_policy_pb2.Prompt, _Mapping]] = ...) -> None: ...
