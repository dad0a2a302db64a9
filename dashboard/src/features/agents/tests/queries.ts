import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../../api/client.ts";

export type Test = Schema["Test"];
export type Run = Schema["TestRun"];
export type ListedRun = Schema["ListedTestRun"];
export type RunResult = Run["results"][number];
export type Attempt = RunResult["attempts"][number];
export type Transcript = Schema["TestTranscript"];
export type Replay = Schema["Replay"];
export type ListedReplay = Schema["ListedReplay"];
export type RunStatus = Run["status"];

/** The most runs of an agent that are kept, and the most replays: a list has all of them. */
const KEPT_MAX = 50;
/** How often something is read again that tells no changes itself. */
const EVERY_MS = 2_000;

export const testsKey = (agentId: string) => ["tests", agentId] as const;

export const testsQuery = (agentId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "all"],
    queryFn: async ({ signal }) =>
      (await read(signal, "/v1/public/agents/{agent_id}/tests", { path: { agent_id: agentId } })).tests,
  });

export const testQuery = (agentId: string, testId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "one", testId],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/agents/{agent_id}/tests/{test_id}", { path: { agent_id: agentId, test_id: testId } }),
  });

/** All runs that are kept, without attempts, newest first. */
export const runsQuery = (agentId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "runs"],
    queryFn: async ({ signal }) => {
      const params = { path: { agent_id: agentId }, query: { page_size: KEPT_MAX } };
      return (await read(signal, "/v1/public/agents/{agent_id}/tests/runs", params)).runs;
    },
    refetchInterval: ({ state }) => state.data?.some(isOpen) && EVERY_MS,
  });

export const runQuery = (agentId: string, runId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "run", runId],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/agents/{agent_id}/tests/runs/{run_id}", { path: { agent_id: agentId, run_id: runId } }),
  });

/** The result of one test with its transcripts. @param ended how many of its attempts had ended, so that it is read again after the next */
export const runResultQuery = (agentId: string, runId: string, testId: string, ended: number) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "run", runId, testId, ended],
    queryFn: async ({ signal }) => {
      const params = { path: { agent_id: agentId, run_id: runId }, query: { test_id: testId } };
      const run = await read(signal, "/v1/public/agents/{agent_id}/tests/runs/{run_id}", params);
      return run.results[0] ?? null;
    },
    placeholderData: (before) => before,
  });

/** All replays that are kept, without results, newest first. */
export const replaysQuery = (agentId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "replays"],
    queryFn: async ({ signal }) => {
      const params = { path: { agent_id: agentId }, query: { page_size: KEPT_MAX } };
      return (await read(signal, "/v1/public/agents/{agent_id}/replays", params)).replays;
    },
    refetchInterval: ({ state }) => state.data?.some(isOpen) && EVERY_MS,
  });

export const replayQuery = (agentId: string, replayId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "replay", replayId],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/agents/{agent_id}/replays/{replay_id}", {
        path: { agent_id: agentId, replay_id: replayId },
      }),
    refetchInterval: ({ state }) => state.data && isOpen(state.data) && EVERY_MS,
  });

/** A conversation that was replayed, as it is stored. */
export const storedConversationQuery = (conversationId: string) =>
  queryOptions({
    queryKey: ["conversation", conversationId, "replayed"],
    queryFn: ({ signal }) =>
      read(signal, "/v1/public/conversations/{conversation_id}", { path: { conversation_id: conversationId } }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What was said in the replay of one conversation; null if nothing is stored of it. */
export const replayedTranscriptQuery = (agentId: string, replayId: string, conversationId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "replay", replayId, conversationId],
    queryFn: async ({ signal }) => {
      const params = {
        path: { agent_id: agentId, replay_id: replayId },
        query: { conversation_id: conversationId },
      };
      const replay = await read(signal, "/v1/public/agents/{agent_id}/replays/{replay_id}", params);
      return replay.results[0]?.transcript ?? null;
    },
  });

/** Whether it has not ended. */
export function isOpen({ ended_at }: Pick<Run, "ended_at">): boolean {
  return ended_at === null;
}
