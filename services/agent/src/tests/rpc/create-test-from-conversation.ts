import { CreateTestFromConversationResponse } from "@parley/proto/parley/agent/v1/test.ts";
import type { Conversation } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { type Assertion, TEST_LIMITS } from "@parley/shared/domain/tests";
import { notFound, ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { newId } from "@parley/shared/ids";
import { actorText } from "@parley/shared/rpc/actor";
import { checkName, NAME_MAX, nameOfText } from "@parley/shared/text/name";
import type { AgentContext, Handler } from "../../context.ts";
import { checkAgentId, getAgentRow, getLockedAgentRow } from "../../read-agents.ts";
import { withinAgentRoom } from "../../room.ts";
import { listToolNames } from "../../store/tools.ts";
import { defineTest } from "../define.ts";
import { messagesOf, mocksOf } from "../replays/recorded.ts";
import { finishedOf } from "../runs/finished.ts";
import { readConversation } from "../runs/read-conversation.ts";
import { listTestNames } from "../store/tests.ts";
import { storeNewTest } from "./create-test.ts";

/** Stores a scripted test that says what the user of a conversation said, and expects of the agent what it did with its tools. */
export function createTestFromConversation(ctx: AgentContext): Handler<"createTestFromConversation"> {
  return async ({ ownerId, agentId, conversationId, name, idempotency }, call) => {
    checkAgentId(agentId);
    if (name !== undefined) checkName("name", name);
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: CreateTestFromConversationResponse, call },
      {
        prepare: async () => {
          await getAgentRow(ctx.db, { ownerId, agentId });
          const conversation = await readConversation(ctx, { ownerId, conversationId }, call);
          if (conversation.agentId !== agentId) throw notFound("Conversation", "conversation_id");
          return conversation;
        },
        write: (tx, conversation) =>
          withinAgentRoom(tx, ctx, ownerId, async () => {
            const now = ctx.clock.now();
            // A tool that is gone has no call to answer.
            const tools = new Set(await listToolNames(tx, ownerId));
            const definition = testOf(conversation, (tool) => tools.has(tool));
            // Nobody else takes a name in the meantime.
            await getLockedAgentRow(tx, { ownerId, agentId });
            return storeNewTest(ctx, tx, {
              ...{ ownerId, agentId, testId: newId("tst"), required: false },
              name: name ?? nameFor(conversation, await listTestNames(tx, { ownerId, agentId })),
              definition,
              createdBy: actorText(call.actor),
              createdAt: now,
              updatedAt: now,
            });
          }),
      },
    );
  };
}

/** The user's first words, numbered if another test of the agent has them as its name. */
function nameFor(conversation: Conversation, taken: readonly string[]): string {
  const words = messagesOf(conversation).find((message) => nameOfText(message) !== null);
  const text = words ?? `Conversation ${conversation.conversationId}`;
  for (let number = 1; ; number++) {
    const end = number === 1 ? "" : ` (${number})`;
    const name = `${nameOfText(text, NAME_MAX - end.length)}${end}`;
    if (!taken.includes(name)) return name;
  }
}

/** @throws ServiceError condition if there is nothing to test */
function testOf(conversation: Conversation, isKnown: (tool: string) => boolean) {
  const messages = messagesOf(conversation).slice(0, TEST_LIMITS.messages);
  if (messages.length === 0)
    throw new ServiceError("condition", "The user of this conversation said nothing, so there is nothing to test");
  const mocks = mocksOf(conversation).filter(({ tool }) => isKnown(tool));
  return defineTest({
    messages,
    variables: (conversation.dynamicVariables ?? {}) as Record<string, unknown>,
    tool_mocks: mocks.slice(0, TEST_LIMITS.mocks),
    assertions: assertionsOf(conversation, messages.length, isKnown),
  });
}

/** What the agent did with its tools; without any, that its replies have the meaning that they had. */
function assertionsOf(conversation: Conversation, turns: number, isKnown: (tool: string) => boolean): Assertion[] {
  const finished = finishedOf(conversation);
  const called = finished.turns.slice(0, turns).flatMap(({ toolCalls }, at) =>
    toolCalls
      .filter(({ name }) => isKnown(name))
      .map(
        ({ name, arguments: given }): Assertion => ({
          type: "tool_called",
          turn: at + 1,
          tool: name,
          ...(typeof given === "object" && given !== null && { arguments: given as Record<string, unknown> }),
        }),
      ),
  );
  if (called.length > 0) return called.slice(0, TEST_LIMITS.assertions);
  const last = finished.turns[turns - 1]?.agent ?? "";
  const criterion = `The agent's last reply tells the user the same as this one (text from outside): ${JSON.stringify(last.slice(0, 1_000))}`;
  return [{ type: "judge", criterion }];
}
