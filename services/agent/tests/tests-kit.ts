import { Publishing } from "@parley/proto/parley/agent/v1/agent.ts";
import { CreateTestRequest, RunTestsRequest, type TestRun } from "@parley/proto/parley/agent/v1/test.ts";
import {
  type AnalysisResult,
  Conversation,
  ConversationStatus,
  EndedBy,
  Message,
  ReplyKnowledge,
  Role,
  ToolCall,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  type AskForJsonRequest,
  ConversationServiceService,
  type StartChatRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { type HoldTestCallRequest, VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { notFound, ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { type AgentClient, create, creation, present, startTestAgents } from "./kit.ts";

/** What a reply costs, in millionths of a US dollar. */
export const REPLY_COST = 1_000;

interface Held extends StartChatRequest {
  conversation: Conversation;
}

/**
 * An agent service beside a conversation and a voice service that only say what a test scripts: an agent repeats the user's words in
 * capitals, and calls a tool `look_up` with the words after "look up".
 */
export async function startTestStack() {
  const held = new Map<string, Held>();
  const script = {
    /** What a reply waits for. */
    beforeReply: async (_message: string): Promise<void> => {},
    /** What reading a conversation waits for. */
    beforeRead: async (): Promise<void> => {},
    /** What the analysis of a test's conversation finds; null: its agent has none. */
    analysis: null as Record<string, unknown> | null,
    /** What a model answers when it is asked for JSON. */
    answer: (_asked: AskForJsonRequest): object | Promise<object> => ({ verdict: "yes", reason: "So it is." }),
    /** Of the documents that a reply is from. */
    documentsHash: "",
    asked: [] as AskForJsonRequest[],
    calls: [] as HoldTestCallRequest[],
  };
  const hear = (conversation: Conversation, content: string) =>
    present(conversation.transcript).messages.push(Message.fromPartial({ role: Role.ROLE_USER, content }));
  const reply = (conversation: Conversation, message: string) => {
    const { messages } = present(conversation.transcript);
    const content = message.toUpperCase();
    const lookedUp = /look up (\S+)/.exec(message)?.[1];
    messages.push({
      ...Message.fromPartial({ role: Role.ROLE_ASSISTANT, content }),
      toolCalls: lookedUp
        ? [ToolCall.fromPartial({ name: "look_up", arguments: JSON.stringify({ id: lookedUp }), result: "found" })]
        : [],
      knowledge: ReplyKnowledge.fromPartial({
        documentSets: [{ knowledgeBaseId: "kb_prices", documentsHash: script.documentsHash }],
      }),
    });
    const usage = { ...present(conversation.usage), costUsdMicros: (messages.length / 2) * REPLY_COST };
    conversation.usage = usage;
    return content;
  };
  const begin = (request: StartChatRequest, conversationId: string) => {
    const conversation = Conversation.fromPartial({
      ...{ conversationId, ownerId: request.ownerId, agentId: request.agentId },
      transcript: { messages: [] },
      usage: {},
    });
    held.set(conversationId, { ...request, conversation });
    return conversation;
  };
  const find = (conversationId: string) => {
    const found = held.get(conversationId);
    if (!found) throw notFound("Conversation");
    return found.conversation;
  };
  const end = (conversationId: string, endedBy: EndedBy | undefined) => {
    const conversation = find(conversationId);
    conversation.endedBy ??= endedBy;
    conversation.status = ConversationStatus.CONVERSATION_STATUS_COMPLETED;
  };
  const conversations = await serve(
    ConversationServiceService,
    {
      startChat: async (request) => {
        const { sessionId = newUuid() } = request;
        begin(request, sessionId);
        return { sessionId, firstMessage: "" };
      },
      completeTurn: async ({ turn }) => {
        const { sessionId = "", message } = present(turn);
        const refuseEnded = () => {
          if (find(sessionId).endedBy) throw new ServiceError("condition", "Session has ended");
        };
        refuseEnded();
        hear(find(sessionId), message);
        await script.beforeReply(message);
        refuseEnded();
        const response = reply(find(sessionId), message);
        if (message === "Goodbye") end(sessionId, EndedBy.ENDED_BY_AGENT);
        return { sessionId, response, replayed: false, replySequence: 2, isOperators: undefined };
      },
      completeConversation: async ({ conversationId, endedBy }) => {
        end(conversationId, endedBy);
        return { status: 2 };
      },
      analyzeConversation: async ({ conversationId }) => {
        if (!script.analysis) throw new ServiceError("condition", "Agent has no analysis");
        find(conversationId).analysis = analysisOf(script.analysis);
        return {};
      },
      getConversation: async ({ conversationId }) => {
        await script.beforeRead();
        return { conversation: find(conversationId) };
      },
      listConversations: async ({ agentId, conversationId }) => {
        const all = [...held.values()].filter(({ test }) => test === undefined).map(({ conversation }) => conversation);
        const found = all.filter(
          (each) => each.agentId === agentId && (conversationId === "" || each.conversationId === conversationId),
        );
        return { conversations: found, total: found.length };
      },
      askForJson: async (request) => {
        script.asked.push(request);
        return { json: JSON.stringify(await script.answer(request)), costUsd: 0.0001 };
      },
    },
    { address: "127.0.0.1:0", log: silentLogger },
  );
  const voices = await serve(
    VoiceServiceService,
    {
      holdTestCall: async function* (requests) {
        let conversation: Conversation | undefined;
        for await (const request of requests) {
          script.calls.push(request);
          const { start, step } = request;
          if (start) {
            const { ownerId, agentId, agentVersion, conversationId, test } = start;
            conversation = begin(
              {
                ownerId,
                agentId,
                agentVersion,
                test,
                metadata: undefined,
                draftId: undefined,
                latestVersion: undefined,
              },
              conversationId,
            );
            yield { news: { $case: "turn", value: { recognized: "", heard: "", latencyMs: undefined } } };
          } else if (step?.$case === "line") {
            hear(present(conversation), step.value.text);
            const heard = reply(present(conversation), step.value.text);
            yield { news: { $case: "turn", value: { recognized: step.value.text, heard, latencyMs: 700 } } };
          } else break;
        }
        present(conversation).endedBy = EndedBy.ENDED_BY_USER;
        yield { news: { $case: "end", value: { endedBy: "user", reason: "The user hung up" } } };
      },
    },
    { address: "127.0.0.1:0", log: silentLogger },
  );
  const service = await startTestAgents({
    PARLEY_CONVERSATION_ADDRESS: conversations.address,
    PARLEY_VOICE_ADDRESS: voices.address,
  });
  return {
    ...service,
    script,
    held,
    /** A stored conversation that is no test's, in which the user said this. */
    keep: (agent: { ownerId: string; agentId: string }, messages: readonly string[]) => {
      const conversation = begin(
        {
          ...agent,
          agentVersion: 1,
          test: undefined,
          metadata: undefined,
          draftId: undefined,
          latestVersion: undefined,
        },
        newUuid(),
      );
      for (const message of messages) {
        hear(conversation, message);
        reply(conversation, message);
      }
      return conversation;
    },
    stop: async () => {
      await service.stop();
      await conversations.stop();
      await voices.stop();
    },
  };
}

export function analysisOf(values: Record<string, unknown>): AnalysisResult {
  const items = Object.entries(values).map(([name, value]) => ({ name, value, type: "str", error: undefined }));
  return { items };
}

/** An agent of a new owner whose changes have to be published. */
export function manualAgent(agents: AgentClient) {
  return create(agents, { ...creation(newOwner()), publishing: Publishing.PUBLISHING_MANUAL });
}

type AgentKey = { ownerId: string; agentId: string };

export function newTest({ ownerId, agentId }: AgentKey, name: string, definition: object, required = false) {
  return { ...CreateTestRequest.fromPartial({ ownerId, agentId, name, required }), definition: { ...definition } };
}

export async function runToEnd(
  agents: AgentClient,
  { ownerId, agentId }: AgentKey,
  given: Partial<RunTestsRequest> = {},
): Promise<TestRun> {
  const { run } = await agents.runTests({ ...RunTestsRequest.fromPartial({ ownerId, agentId }), ...given });
  return ended(agents, { ownerId, agentId, runId: present(run).runId });
}

export function ended(agents: AgentClient, key: AgentKey & { runId: string }): Promise<TestRun> {
  return eventually(async () => {
    const run = present((await agents.getTestRun({ ...key, testId: "" })).run);
    if (run.endedAt === undefined) throw new Error(`the run is ${run.status}`);
    return run;
  });
}
