import { setImmediate } from "node:timers/promises";
import type { LlmConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { type Conversation, ConversationStatus } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Assertion, AssertionResult, TestDefinition, TestModel } from "@parley/shared/domain/tests";
import { type ErrorKind, ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { assertOn } from "../assertions/assert.ts";
import type { FinishedConversation } from "../assertions/finished.ts";
import { type Cost, costOf, costOfAnswer, costUnread, sumCosts } from "../cost.ts";
import { criterionQuestion, type JudgeAnswer, judged, type Question, readVerdict } from "../judge.ts";
import type { Drivers } from "./driver.ts";
import { finishedOf } from "./finished.ts";
import { holdCall } from "./hold-call.ts";
import { holdChat } from "./hold-chat.ts";
import { setupOf } from "./mocks.ts";
import { readConversation } from "./read-conversation.ts";
import { userOf } from "./user.ts";

/** An attempt at a test, or the replay of a conversation. */
export interface Attempt extends AgentKey {
  agentVersion: number;
  runId: string;
  conversationId: string;
  definition: TestDefinition;
  /** Whether each mock answers one call, as the results of a replay do. */
  once: boolean;
  origin: CallOrigin;
  so: Progress;
  /** A model outside the conversation is about to be asked. @throws when the attempt is no longer wanted */
  asks(): Promise<void>;
  /** Counts what its answer has cost. */
  paid(cost: Cost): Promise<void>;
  /** @throws when the attempt is no longer wanted */
  check(): Promise<void>;
  /** A model with its key; undefined: the agent's own. */
  llmOf(model: TestModel | null): Promise<LlmConfig | undefined>;
}

/** What is known of an attempt that is under way. */
export interface Progress {
  conversationId: string | null;
  /** Of its conversation. */
  cost: Cost;
  /** Whether `cost` has what the conversation's replies cost. */
  isCounted: boolean;
}

interface FinishedAttempt {
  conversation: FinishedConversation;
  /** How a call ended. */
  stored: Conversation;
  ask(question: Question, model: TestModel | null): Promise<string>;
}

const ASK_TIMEOUT_MS = 120_000;
/** How long an analysis may take after the end, and how often it is looked for. */
const ANALYSIS_WITHIN_MS = 120_000;
const ANALYSIS_EVERY_MS = 200;

/**
 * Holds the conversation of an attempt to its end.
 * @param wantsAnalysis whether to wait for its analysis
 * @throws ServiceError when the conversation could not be held
 */
export async function holdAttempt(
  drivers: Drivers,
  attempt: Attempt,
  wantsAnalysis: boolean,
): Promise<FinishedAttempt> {
  const { ownerId, agentId, agentVersion, definition, origin, so } = attempt;
  const ask = async ({ system, message, schema }: Question, model: TestModel | null) => {
    const llm = await attempt.llmOf(model);
    await attempt.asks();
    const answer = await drivers.conversations.askForJson(
      { ownerId, agentId, agentVersion, llm, system, message, schema },
      { origin, timeoutMs: ASK_TIMEOUT_MS },
    );
    await attempt.paid(costOfAnswer(answer));
    return answer.json;
  };
  const user = userOf(definition, (question) => ask(question, definition.model));
  const held = await (definition.channel === "voice" ? holdCall : holdChat)(drivers, {
    ownerId,
    agentId,
    agentVersion,
    conversationId: attempt.conversationId,
    setup: setupOf(attempt.runId, definition, attempt.once),
    origin,
    begun: (conversationId) => {
      so.conversationId = conversationId;
    },
    isScripted: definition.kind === "scripted",
    next: async (said) => {
      await attempt.check();
      return user(said);
    },
  });
  const stored = await readStored(drivers, attempt, held.conversationId, wantsAnalysis);
  so.isCounted = true;
  so.cost = sumCosts(so.cost, costOf(stored));
  const conversation = finishedOf(stored);
  // In a call, the one who hangs up is the user in any case.
  if (held.isCutShort && conversation.endedBy === "user") conversation.endedBy = "system";
  conversation.turns.forEach((turn, at) => {
    turn.latencyMs ??= held.latenciesMs[at] ?? null;
  });
  return { conversation, stored, ask };
}

/** Counts what the replies of an attempt that could not be held to its end have cost. */
export async function countBroken(drivers: Drivers, ownerId: string, so: Progress): Promise<void> {
  const { conversationId, isCounted } = so;
  if (conversationId === null || isCounted) return;
  const read = readConversation(drivers, { ownerId, conversationId });
  so.cost = sumCosts(so.cost, await read.then(costOf, costUnread));
}

async function readStored(
  { conversations }: Drivers,
  { ownerId, origin, check }: Attempt,
  conversationId: string,
  wantsAnalysis: boolean,
): Promise<Conversation> {
  let isAsked = false;
  for (let waitedMs = 0; ; waitedMs += ANALYSIS_EVERY_MS) {
    const conversation = await readConversation({ conversations }, { ownerId, conversationId }, origin);
    if (!wantsAnalysis || conversation.analysis || waitedMs >= ANALYSIS_WITHIN_MS) return conversation;
    if (!isAsked && conversation.status !== ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS) {
      if (!(await askForAnalysis(conversations, { ownerId, conversationId }, origin))) return conversation;
      isAsked = true;
    }
    await check();
    await Bun.sleep(ANALYSIS_EVERY_MS);
  }
}

/** Nothing else has a test's conversation analyzed. @returns whether it will be: not with a version without analysis */
async function askForAnalysis(
  conversations: Drivers["conversations"],
  key: { ownerId: string; conversationId: string },
  origin: CallOrigin,
): Promise<boolean> {
  try {
    await conversations.analyzeConversation({ ...key, idempotency: undefined }, { origin });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "condition") return false;
    throw error;
  }
}

/** Checks all assertions of a test, in their order. */
export async function assertAll(
  assertions: readonly Assertion[],
  { conversation, ask }: Pick<FinishedAttempt, "conversation" | "ask">,
): Promise<AssertionResult[]> {
  // Its profiles of languages take a fifth of a second to load.
  const { detect } = await import("tinyld/light");
  const results: AssertionResult[] = [];
  for (const assertion of assertions) {
    if (assertion.type !== "judge") {
      // Each may take a while; others have their turn in between.
      await setImmediate();
      results.push(assertOn(assertion, conversation, detect));
      continue;
    }
    const question = criterionQuestion(assertion.criterion ?? "", assertion.turn ?? null, conversation);
    results.push(judged(assertion, await verdictOn(ask, question, assertion.model ?? null)));
  }
  return results;
}

/** Asks a judge. @returns null if its model gives no verdict, which is no fault of the conversation */
export async function verdictOn(
  ask: FinishedAttempt["ask"],
  question: Question,
  model: TestModel | null,
): Promise<JudgeAnswer | null> {
  try {
    return readVerdict(await ask(question, model));
  } catch (error) {
    if (error instanceof ServiceError && UPSTREAM.includes(error.kind)) return null;
    throw error;
  }
}

const UPSTREAM: readonly ErrorKind[] = ["upstream_failed", "upstream_timeout"];
