import {
  type CreateReplayRequest,
  CreateReplayResponse,
  ReplayedConversations,
} from "@parley/proto/parley/agent/v1/test.ts";
import { ListConversationsRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { CONVERSATION_STATUSES, CONVERSATION_TYPES } from "@parley/shared/domain/api-names";
import { TEST_LIMITS, type TestDefinition } from "@parley/shared/domain/tests";
import { invalid } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import type { Call } from "@parley/shared/rpc/call";
import type { AgentContext, Handler } from "../../context.ts";
import { checkAgentId, getAgentRow, getVersion } from "../../read-agents.ts";
import { LATEST } from "../../store/versions.ts";
import { startRun } from "../runs/start.ts";

const PAGE = 100;
const LIST_TIMEOUT_MS = 20_000;

/** Which conversations are replayed is settled at once; what was said in them is read when their turn comes. */
export function createReplay(ctx: AgentContext): Handler<"createReplay"> {
  return async (request, call) => {
    const { ownerId, agentId, max, idempotency } = request;
    checkAgentId(agentId);
    if (max < 1 || max > TEST_LIMITS.conversations)
      throw invalid("max", `max must be 1 to ${TEST_LIMITS.conversations}`);
    const definition = definitionOf(request);
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: CreateReplayResponse, call },
      {
        prepare: async () => {
          await getAgentRow(ctx.db, request);
          return findConversations(ctx, request, call);
        },
        write: async (tx, conversationIds) => {
          const version = await getVersion(tx, request, request.agentVersion ?? LATEST);
          const same = { attempt: 1, required: false, definition, passKey: null };
          const attempts = conversationIds.map((testId) => ({ testId, name: testId, ...same }));
          return { replay: await startRun(ctx, tx, request, version, { isReplay: true, actor: call.actor }, attempts) };
        },
      },
    );
  };
}

/** What does not depend on the conversation. */
function definitionOf({ channel }: CreateReplayRequest): TestDefinition {
  return {
    kind: "scripted",
    channel: channel === "voice" ? "voice" : "text",
    ...{ repeat: 1, pass_at_least: 1, messages: [], persona: null, goal: null, first_message: null, turns_max: null },
    ...{ model: null, variables: {}, tool_mocks: [], unmocked: "error", assertions: [] },
  };
}

/** @throws ServiceError invalid if there is none */
async function findConversations(
  { conversations }: Pick<AgentContext, "conversations">,
  { ownerId, agentId, conversations: filter, max }: CreateReplayRequest,
  call: Call,
): Promise<string[]> {
  const { conversationIds, type, status, ...filters } = filter ?? ReplayedConversations.fromPartial({});
  const request: ListConversationsRequest = {
    ...ListConversationsRequest.fromPartial({ ownerId, agentId, isTestCall: false }),
    ...filters,
    type: named(CONVERSATION_TYPES, type),
    status: named(CONVERSATION_STATUSES, status),
  };
  const found: string[] = [];
  const pages = conversationIds.length > 0 ? conversationIds.map((id) => ({ id, number: 1 })) : allPages(max);
  for (const { id, number } of pages) {
    const page = { number, size: Math.min(PAGE, max) };
    const asked = { ...request, page, conversationId: id };
    const listed = (await conversations.listConversations(asked, { origin: call, timeoutMs: LIST_TIMEOUT_MS }))
      .conversations;
    if (id !== "" && listed.length === 0)
      throw invalid("conversations.conversation_ids", `The agent has no conversation ${id} that matches`);
    found.push(...listed.map(({ conversationId }) => conversationId));
    if (found.length >= max || (id === "" && listed.length < page.size)) break;
  }
  if (found.length === 0) throw invalid("conversations", "The agent has no conversation that matches");
  return found.slice(0, max);
}

/** The number of a name; 0 for none. */
function named<N extends string, V extends number>(numbers: Readonly<Record<N, V>>, name: string): V | 0 {
  return name in numbers ? numbers[name as N] : 0;
}

function allPages(max: number) {
  return Array.from({ length: Math.ceil(max / PAGE) }, (_, at) => ({ id: "", number: at + 1 }));
}
