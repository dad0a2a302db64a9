"""A complete voice runtime except for the voice: sets a call up, reports what is said, and ends it."""

import json
import os
import time
import uuid

import grpc
from google.protobuf import json_format, struct_pb2
from parley.conversation.v1 import conversation_pb2 as conversation
from parley.conversation.v1 import conversation_service_pb2 as messages
from parley.conversation.v1 import conversation_service_pb2_grpc as services

OWNER_ID = os.environ["PARLEY_OWNER_ID"]
AGENT_ID = os.environ["AGENT_ID"]
# Choose it once, before you send anything, and keep it where a restarted runtime finds it.
CONVERSATION_ID = os.environ.get("CONVERSATION_ID") or str(uuid.uuid4())
DEADLINE_SECONDS = 10


def persistently(call):
    """Retries a request: repeats store nothing twice, and a conversation ends once."""
    delay = 0.25
    while True:
        try:
            return call()
        except grpc.RpcError as error:
            if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
                raise
        time.sleep(delay)
        delay = min(2 * delay, 10)


def prepare(parley, variables):
    """Returns what the agent says first, and how it sounds."""
    request = messages.GetCallSetupRequest(owner_id=OWNER_ID, agent_id=AGENT_ID, dynamic_variables=variables)
    setup = persistently(lambda: parley.GetCallSetup(request, timeout=DEADLINE_SECONDS))
    # A real runtime connects its speech recognition and its voice with these.
    for name in ("stt", "tts", "sts"):
        config = json_format.MessageToDict(getattr(setup, name)) if setup.HasField(name) else None
        print(name, json.dumps(config, sort_keys=True))
    return setup


def transcribe(parley, variables, spoken):
    """Sends what is not stored yet. A real call keeps the stream open and sends each message when it is said."""
    start = messages.StartConversationRequest(
        owner_id=OWNER_ID,
        agent_id=AGENT_ID,
        conversation_id=CONVERSATION_ID,
        type=conversation.CONVERSATION_TYPE_TELEPHONY,
        calling_type=conversation.CALLING_TYPE_INBOUND,
        from_mobile_number="+919876543210",
        to_mobile_number="+14155550123",
        telephony_provider="TWILIO",
        dynamic_variables=variables,
    )
    # On a retry this is the same request; its response says where to continue.
    stored = parley.StartConversation(start, timeout=DEADLINE_SECONDS).last_sequence
    if stored >= len(spoken):
        return
    parley.AppendTranscript(
        messages.AppendTranscriptRequest(
            owner_id=OWNER_ID,
            conversation_id=CONVERSATION_ID,
            sequence=sequence,
            message=conversation.Message(role=role, content=content),
        )
        for sequence, (role, content) in enumerate(spoken, start=1)
        if sequence > stored
    )


def complete(parley):
    end = messages.CompleteConversationRequest(
        owner_id=OWNER_ID,
        conversation_id=CONVERSATION_ID,
        outcome=conversation.OUTCOME_SUCCESS,
        duration_seconds=21.5,
    )
    ended = persistently(lambda: parley.CompleteConversation(end, timeout=DEADLINE_SECONDS))
    print(CONVERSATION_ID, conversation.ConversationStatus.Name(ended.status))


variables = struct_pb2.Struct()
variables.update({"customer name": "Ada"})
# Either form works: unix:/path, or host:port.
with grpc.insecure_channel(os.environ["PARLEY_CONVERSATION_ADDRESS"]) as channel:
    parley = services.ConversationServiceStub(channel)
    setup = prepare(parley, variables)
    spoken = [
        (conversation.ROLE_ASSISTANT, setup.greeting or "Hello!"),
        (conversation.ROLE_USER, "When do you open?"),
    ]
    persistently(lambda: transcribe(parley, variables, spoken))
    complete(parley)
