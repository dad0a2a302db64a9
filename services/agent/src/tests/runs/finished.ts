import { type Conversation, EndedBy, type Message, Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { FinishedConversation, FinishedTurn } from "../assertions/finished.ts";

/** A stored conversation as assertions see it. It must have been read with its tool calls and knowledge. */
export function finishedOf(conversation: Conversation): FinishedConversation {
  const greeting: string[] = [];
  const turns: FinishedTurn[] = [];
  const [, ...takenOver] = conversation.agentPath;
  for (const [at, message] of (conversation.transcript?.messages ?? []).entries()) {
    if (message.role === Role.ROLE_USER) turns.push(newTurn(message.content));
    else if (turns.length === 0) greeting.push(message.content);
    const turn = turns.at(-1);
    if (!turn) continue;
    if (message.role === Role.ROLE_ASSISTANT) addReply(turn, message);
    turn.toolCalls.push(...message.toolCalls.map(calledTool));
    // Sequences are counted from 1, and an agent takes over between the user's message and its own first one.
    turn.handedOffTo.push(...takenOver.filter(({ fromSeq }) => fromSeq === at + 1).map(({ agentId }) => agentId));
  }
  // It has taken over, but has not said a word.
  const last = turns.at(-1);
  const told = new Set(turns.flatMap(({ handedOffTo }) => handedOffTo));
  last?.handedOffTo.push(...takenOver.map(({ agentId }) => agentId).filter((agentId) => !told.has(agentId)));
  return {
    greeting: greeting.join("\n"),
    turns,
    endedBy: endedByOf(conversation.endedBy),
    language: conversation.language ?? null,
    analysis: Object.fromEntries(
      (conversation.analysis?.items ?? [])
        .filter(({ error }) => error === undefined)
        .map(({ name, value }) => [name, value as unknown]),
    ),
    documentSets: (conversation.transcript?.messages ?? []).flatMap(({ knowledge }) => knowledge?.documentSets ?? []),
  };
}

function newTurn(user: string): FinishedTurn {
  return { user, agent: "", toolCalls: [], handedOffTo: [], latencyMs: null, sources: [] };
}

function addReply(turn: FinishedTurn, { content, latency, reply, knowledge }: Message): void {
  turn.agent = turn.agent === "" ? content : `${turn.agent}\n${content}`;
  turn.latencyMs ??= latency?.audibleMs ?? reply?.firstWordMs ?? null;
  turn.sources.push(...(knowledge?.sources ?? []).map(({ documentId, name }) => ({ documentId, name })));
}

function calledTool({ name, arguments: given, result, isError }: Message["toolCalls"][number]) {
  return { name, arguments: parsed(given), result, isError };
}

/** What the model wrote need not be JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function endedByOf(endedBy: EndedBy | undefined): FinishedConversation["endedBy"] {
  if (endedBy === EndedBy.ENDED_BY_AGENT) return "agent";
  return endedBy === EndedBy.ENDED_BY_USER ? "user" : "system";
}
