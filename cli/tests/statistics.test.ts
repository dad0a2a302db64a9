import { afterAll, expect, test } from "bun:test";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  ConversationServiceService,
  type GetStatisticsRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { PARLEY } from "./stack.ts";

const OWNER = "own_01j00000000000000000000000";
const DAY_MS = 86_400_000;
const FIGURES = {
  begun: 3,
  completed: 2,
  disconnected: 1,
  failed: 0,
  callSeconds: 0.1,
  replies: 5,
  inputTokens: 900,
  outputTokens: 60,
  costUsdMicros: 12_345,
  unpricedReplies: 2,
};

let asked: GetStatisticsRequest[] = [];
const settings = { address: "127.0.0.1:0", log: silentLogger };
const account = await serve(
  AccountServiceService,
  {
    getOwner: async ({ ownerId }) => {
      if (ownerId !== OWNER) throw new ServiceError("not_found", "Owner not found");
      return { owner: undefined };
    },
  },
  settings,
);
const conversation = await serve(
  ConversationServiceService,
  {
    getStatistics: async (request) => {
      asked.push(request);
      const day = request.from?.toISOString().slice(0, 10) ?? "";
      return {
        channels: [
          { day, type: ConversationType.CONVERSATION_TYPE_CHAT, figures: FIGURES },
          { day, type: ConversationType.CONVERSATION_TYPE_TELEPHONY, figures: { ...FIGURES, callSeconds: 0.2 } },
        ],
        agents: [{ agentId: "agt_\u001b[31m", figures: FIGURES }],
        models: [{ providerName: "OPENAI", modelName: "gpt-5-mini", figures: FIGURES }],
        latencies: [{ day: "", isCall: false, replies: 40, p50Ms: 350, p95Ms: 620 }],
      };
    },
  },
  settings,
);
afterAll(async () => {
  await Promise.all([account.stop(), conversation.stop()]);
});

async function statistics(...args: string[]) {
  asked = [];
  const env = {
    ...process.env,
    PARLEY_ACCOUNT_ADDRESS: account.address,
    PARLEY_CONVERSATION_ADDRESS: conversation.address,
  };
  const child = Bun.spawn([...PARLEY, "statistics", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { stdout, stderr, status: await child.exited };
}

test("statistics are asked for whole days in UTC, today included, and shown by day, agent and model", async () => {
  const { stdout, status } = await statistics("--owner", OWNER, "--days", "7", "--agent", "agt_1");
  expect(status).toBe(0);
  const [{ ownerId, agentId, from, to } = { ownerId: "", agentId: "", from: undefined, to: undefined }] = asked;
  expect({ ownerId, agentId }).toEqual({ ownerId: OWNER, agentId: "agt_1" });
  expect(((to?.getTime() ?? 0) - (from?.getTime() ?? 0)) / DAY_MS).toBe(7);
  expect((to?.getTime() ?? 1) % DAY_MS).toBe(0);
  const [total = "", days = "", agents = "", models = ""] = stdout.trimEnd().split("\n\n");
  expect(total).toMatch(/^conversations +6$/m);
  expect(total).toMatch(/^call_seconds +0\.3$/m);
  expect(total).toMatch(/^text_p50_ms +350$/m);
  expect(total).toMatch(/^call_p50_ms +-$/m);
  // The list omits days without conversations.
  expect(days.split("\n")).toHaveLength(2);
  expect(days).toMatch(/^\d{4}-\d\d-\d\d +6 +4 +2 +0 +0\.3 +10 /m);
  expect(agents).toContain("agt_\\u001b[31m");
  expect(models).toMatch(/^OPENAI +gpt-5-mini +5 +900 +60 +0\.012345 +2$/m);
  expect(total).toMatch(/^cost_usd +0\.024690$/m);
});

test("with --json, statistics are the API's answer", async () => {
  const { stdout } = await statistics("--owner", OWNER, "--json");
  const { days, total, models } = JSON.parse(stdout);
  expect(days).toHaveLength(30);
  expect(total).toMatchObject({ conversations: 6, call_seconds: 0.3, text_latency: { p50_ms: 350, p95_ms: 620 } });
  expect(models[0]).toMatchObject({ provider_name: "OPENAI", replies: 5 });
});

test("an unknown owner and an impossible number of days are refused", async () => {
  expect(await statistics("--owner", "own_01j00000000000000000000001")).toMatchObject({
    status: 1,
    stderr: "Owner not found\n",
  });
  const { status, stderr } = await statistics("--owner", OWNER, "--days", "367");
  expect(status).toBe(2);
  expect(stderr).toContain("It must be from 1 to 366.");
  expect(asked).toEqual([]);
});
