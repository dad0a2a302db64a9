import type { Conversation, Message } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type {
  ConversationState,
  OperatorState,
  ToldWords,
  WatchConversationsResponse,
} from "@parley/proto/parley/conversation/v1/live.ts";
import { AGENT_STATES, nameOf, ROLES, TOOL_CALL_STATES, TRANSFER_STATES } from "@parley/shared/domain/api-names";
import { presentConversation, presentMessage } from "@parley/shared/domain/present/conversation";
import { isoTime } from "@parley/shared/domain/present/time";
import { parseObject } from "@parley/shared/json/json-object";
import { actorOf } from "@parley/shared/rpc/actor";
import { required } from "./required.ts";

export type Told = WatchConversationsResponse;

/** An event as watchers get it (docs/live.md#watching); null if there is nothing to tell. */
export function presentTold({ event }: Told): { event: string; data: object } | null {
  switch (event?.$case) {
    case "snapshot": {
      const { conversation, state, words } = event.value;
      const shown = presentConversation(required(conversation), { replies: true, sources: true });
      const partial = words.map(presentWords);
      return { event: "snapshot", data: { conversation: shown, state: presentState(required(state)), partial } };
    }
    case "message": {
      const message = presentMessage(required(event.value.message), { replies: true, sources: true });
      return { event: "message", data: { seq: event.value.seq, final: true, ...message } };
    }
    case "words":
      return { event: "message", data: presentWords(event.value) };
    case "toolCall": {
      const { toolCallId, name, arguments: json } = required(event.value.toolCall);
      const made = { tool_call_id: toolCallId, name, arguments: parseObject(json) ?? {} };
      return { event: "tool_call", data: { seq: event.value.seq, ...made } };
    }
    case "toolResult": {
      const { toolCallId, result, isError, state } = required(event.value.toolCall);
      const answered = { tool_call_id: toolCallId, result, is_error: isError, status: nameOf(TOOL_CALL_STATES, state) };
      return { event: "tool_result", data: { seq: event.value.seq, ...answered } };
    }
    case "speaking":
      return {
        event: "speaking",
        data: { role: nameOf(ROLES, event.value.role), speaking: event.value.isSpeaking },
      };
    case "state":
      return { event: "state", data: presentState(event.value) };
    case "handoff":
      return { event: "handoff", data: { agent_id: event.value.agentId, from_seq: event.value.fromSeq } };
    case "transfer":
      return {
        event: "transfer",
        data: { to: event.value.to, status: nameOf(TRANSFER_STATES, event.value.state) },
      };
    case "started":
    case "ended":
      return { event: event.$case, data: withoutTranscript(event.value) };
    default:
      return null;
  }
}

function presentWords({ seq, role, offset, text }: ToldWords) {
  return { seq, final: false, role: nameOf(ROLES, role), offset, content: text };
}

/** The same for the visitor of a website, who learns of no tools and no agents. */
export function presentToVisitor(told: Told): { event: string; data: object } | null {
  switch (told.event?.$case) {
    case "snapshot": {
      const { conversation, state } = told.event.value;
      const messages = conversation?.transcript?.messages ?? [];
      return { event: "snapshot", data: { messages: messages.map(saidTo), ...toVisitor(required(state)) } };
    }
    case "message":
      return { event: "message", data: { seq: told.event.value.seq, ...saidTo(required(told.event.value.message)) } };
    case "state":
      return told.event.value.operator ? { event: "state", data: toVisitor(told.event.value) } : null;
    case "ended":
      return { event: "ended", data: {} };
    default:
      return null;
  }
}

function saidTo(message: Message) {
  const { role, content, timestamp, by } = presentMessage(message, {});
  return { role, content, timestamp, ...(by && { by }) };
}

function toVisitor({ operator }: ConversationState) {
  return { taken_over: operator?.takenOver !== undefined };
}

/** What has changed, or all that is known. */
function presentState({ agent, operator }: ConversationState) {
  const state = nameOf(AGENT_STATES, agent);
  return { ...(state && { agent: state }), ...(operator && presentOperator(operator)) };
}

export function presentOperator({ isMuted, takenOver }: OperatorState) {
  return { muted: isMuted, taken_over: takenOver ? presentTakeOver(takenOver) : null };
}

function presentTakeOver({ by, since }: NonNullable<OperatorState["takenOver"]>) {
  const { kind, id } = actorOf(by);
  return { by: { type: kind, id }, since: isoTime(since) };
}

function withoutTranscript(conversation: Conversation) {
  const { conversation_transcript: _, ...shown } = presentConversation(conversation);
  return shown;
}
