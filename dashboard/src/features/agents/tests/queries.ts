import { queryOptions } from "@tanstack/react-query";
import { api, type Schema } from "../../../api/client.ts";

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
    queryFn: async ({ signal }) => {
      const params = { path: { agent_id: agentId } };
      return (await api.GET("/v1/public/agents/{agent_id}/tests", { params, signal })).tests;
    },
  });

export const testQuery = (agentId: string, testId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "one", testId],
    queryFn: ({ signal }) => {
      const params = { path: { agent_id: agentId, test_id: testId } };
      return api.GET("/v1/public/agents/{agent_id}/tests/{test_id}", { params, signal });
    },
  });

/** All runs that are kept, without attempts, newest first. */
export const runsQuery = (agentId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "runs"],
    queryFn: async ({ signal }) => {
      const params = { path: { agent_id: agentId }, query: { page_size: KEPT_MAX } };
      return (await api.GET("/v1/public/agents/{agent_id}/tests/runs", { params, signal })).runs;
    },
    refetchInterval: ({ state }) => state.data?.some(isOpen) && EVERY_MS,
  });

export const runQuery = (agentId: string, runId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "run", runId],
    queryFn: ({ signal }) => {
      const params = { path: { agent_id: agentId, run_id: runId } };
      return api.GET("/v1/public/agents/{agent_id}/tests/runs/{run_id}", { params, signal });
    },
  });

/** The result of one test with its transcripts. @param ended how many of its attempts had ended, so that it is read again after the next */
export const runResultQuery = (agentId: string, runId: string, testId: string, ended: number) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "run", runId, testId, ended],
    queryFn: async ({ signal }) => {
      const params = { path: { agent_id: agentId, run_id: runId }, query: { test_id: testId } };
      const run = await api.GET("/v1/public/agents/{agent_id}/tests/runs/{run_id}", { params, signal });
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
      return (await api.GET("/v1/public/agents/{agent_id}/replays", { params, signal })).replays;
    },
    refetchInterval: ({ state }) => state.data?.some(isOpen) && EVERY_MS,
  });

export const replayQuery = (agentId: string, replayId: string) =>
  queryOptions({
    queryKey: [...testsKey(agentId), "replay", replayId],
    queryFn: ({ signal }) => {
      const params = { path: { agent_id: agentId, replay_id: replayId } };
      return api.GET("/v1/public/agents/{agent_id}/replays/{replay_id}", { params, signal });
    },
    refetchInterval: ({ state }) => state.data && isOpen(state.data) && EVERY_MS,
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
      const replay = await api.GET("/v1/public/agents/{agent_id}/replays/{replay_id}", { params, signal });
      return replay.results[0]?.transcript ?? null;
    },
  });

/** Whether it has not ended. */
export function isOpen({ ended_at }: Pick<Run, "ended_at">): boolean {
  return ended_at === null;
}
