"""Holds a short call whose replies come from the agent's own model. A real runtime speaks and hears in between."""

import os
import queue
import uuid

import grpc
from parley.conversation.v1 import conversation_pb2 as conversation
from parley.conversation.v1 import conversation_service_pb2 as messages
from parley.conversation.v1 import conversation_service_pb2_grpc as services

OWNER_ID = os.environ["PARLEY_OWNER_ID"]
AGENT_ID = os.environ["AGENT_ID"]
CALL = {"owner_id": OWNER_ID, "conversation_id": str(uuid.uuid4())}
DEADLINE_SECONDS = 10


def spoken_turn(parley, sequence, text, is_interrupted=False):
    """Sends what the user said, speaks the reply, and reports what was heard of it. Returns the last sequence."""
    requests = queue.SimpleQueue()
    requests.put(messages.ConverseRequest(turn=messages.SpokenTurn(sequence=sequence, text=text, **CALL)))
    heard, is_over = "", False
    for event in parley.Converse(iter(requests.get, None)):
        if event.HasField("text") and not is_over:
            # A real runtime passes the words to its voice, and counts them as heard when they have been played.
            heard += event.text
            if is_interrupted:
                # The user heard one word: the model stops, and the rest of the reply is never said.
                heard, is_over = heard.split()[0], True
                requests.put(final(heard))
        elif event.HasField("action"):
            print("action", event.action.WhichOneof("action"))
        elif event.HasField("complete") and not is_over:
            requests.put(final(heard))
        elif event.HasField("stored"):
            requests.put(None)
            print("agent:", heard)
            return event.stored.last_sequence


def final(heard):
    return messages.ConverseRequest(heard=messages.HeardReply(text=heard, is_final=True))


with grpc.insecure_channel(os.environ["PARLEY_CONVERSATION_ADDRESS"]) as channel:
    parley = services.ConversationServiceStub(channel)
    start = messages.StartConversationRequest(agent_id=AGENT_ID, type=conversation.CONVERSATION_TYPE_WEB, **CALL)
    last = parley.StartConversation(start, timeout=DEADLINE_SECONDS).last_sequence
    last = spoken_turn(parley, last + 1, "When do you open?")
    last = spoken_turn(parley, last + 1, "And on Sunday?", is_interrupted=True)
    spoken_turn(parley, last + 1, "Goodbye!")
    end = messages.CompleteConversationRequest(outcome=conversation.OUTCOME_SUCCESS, **CALL)
    ended = parley.CompleteConversation(end, timeout=DEADLINE_SECONDS)
    print(CALL["conversation_id"], conversation.ConversationStatus.Name(ended.status))
