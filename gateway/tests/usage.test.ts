import { afterAll, expect, test } from "bun:test";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import {
  ConversationServiceService,
  type CountUsageRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { readGatewayConfig } from "../src/config.ts";
import { startGateway } from "../src/server.ts";

const NOWHERE = "127.0.0.1:1";
const NOW = new Date();
const TIMES = { createdAt: NOW, lastUsedAt: NOW, expiresAt: NOW };
const SESSION = { sessionId: "ses_x", ownerId: "own_x", userAgent: "", ...TIMES };
const DAY_MS = 24 * 60 * 60 * 1000;

const asked: CountUsageRequest[] = [];

const settings = { address: "127.0.0.1:0", log: silentLogger };
const account = await serve(
  AccountServiceService,
  { authenticateSession: async () => ({ session: SESSION }) },
  settings,
);
const day = {
  conversations: 2,
  replies: 3,
  inputTokens: 400,
  outputTokens: 50,
  costUsdMicros: 1_250,
  unpricedReplies: 1,
};
const conversation = await serve(
  ConversationServiceService,
  {
    countUsage: async (request) => {
      asked.push(request);
      const days = ["2026-01-30", "2026-01-31"].map((each) => ({ day: each, ...day }));
      return { days, storedBytes: 4_000, storedBytesMax: 1_000_000 };
    },
  },
  settings,
);
const config = readGatewayConfig({
  PARLEY_ACCOUNT_ADDRESS: account.address,
  PARLEY_AGENT_ADDRESS: NOWHERE,
  PARLEY_PROMPT_ADDRESS: NOWHERE,
  PARLEY_CONVERSATION_ADDRESS: conversation.address,
  PARLEY_WEBHOOK_ADDRESS: NOWHERE,
  PARLEY_VOICE_ADDRESS: NOWHERE,
  PARLEY_MESSAGING_ADDRESS: NOWHERE,
  PARLEY_KNOWLEDGE_ADDRESS: NOWHERE,
});
const gateway = await startGateway({ ...config, PORT: 0 }, silentLogger);
afterAll(async () => {
  await gateway.stop();
  await account.stop();
  await conversation.stop();
});

const get = async (path: string) => {
  const answer = await fetch(`http://${gateway.address}/v1/manage/${path}`, {
    headers: { cookie: "parley_session=x" },
  });
  return { status: answer.status, body: await answer.json() };
};

test("usage is counted from the first day's midnight to the end of the last day, and summed", async () => {
  const figures = { conversations: 2, replies: 3, input_tokens: 400, output_tokens: 50 };
  expect(await get("usage?from=2026-01-30&to=2026-01-31")).toEqual({
    status: 200,
    body: {
      days: [
        { day: "2026-01-30", ...figures },
        { day: "2026-01-31", ...figures },
      ],
      stored_bytes: 4_000,
      stored_bytes_max: 1_000_000,
      total: { conversations: 4, replies: 6, input_tokens: 800, output_tokens: 100 },
    },
  });
  expect(asked.at(-1)).toEqual({
    ownerId: "own_x",
    from: new Date("2026-01-30T00:00:00Z"),
    to: new Date("2026-02-01T00:00:00Z"),
  });
});

test("usage shows costs if they are requested, and how many replies have an unknown cost", async () => {
  const day = { replies: 3, cost_usd_micros: 1_250, unpriced_replies: 1 };
  expect((await get("usage?from=2026-01-30&to=2026-01-31&include=cost")).body).toMatchObject({
    days: [day, day],
    total: { replies: 6, cost_usd_micros: 2_500, unpriced_replies: 2 },
  });
});

test("usage covers at most 366 days", async () => {
  expect((await get("usage?from=2025-01-31&to=2026-01-31")).status).toBe(200);
});

test("usage without days covers thirty days up to today", async () => {
  const askedAt = Date.now();
  expect((await get("usage")).status).toBe(200);
  const { from, to } = asked.at(-1) ?? {};
  expect((to?.getTime() ?? 0) - (from?.getTime() ?? 0)).toBe(30 * DAY_MS);
  expect(to?.getTime()).toBeWithin(askedAt, Date.now() + DAY_MS + 1);
});

test.each([
  ["from=2026-02-01&to=2026-01-31", "from must not be after to"],
  ["from=2025-01-30&to=2026-01-31", "from must be at most 366 days before the end of to"],
  ["from=2026-02-30", "from must be a date that exists, in ISO 8601"],
  ["to=0000-01-01", "to must be a day such as 2026-01-31"],
  ["to=0001-01-29", "to must be between the years 1970 and 9998"],
  ["to=9999-12-31", "to must be between the years 1970 and 9998"],
  ["to=yesterday", "to must be a day such as 2026-01-31"],
])("usage?%s is refused", async (query, detail) => {
  expect(await get(`usage?${query}`)).toMatchObject({ status: 422, body: { detail } });
});

test("an unreachable service behind the management API is 503, never 'not signed in'", async () => {
  expect(await get("destinations")).toEqual({
    status: 503,
    body: { detail: "The webhook service is unreachable. Try again." },
  });
  await account.stop();
  expect((await get("usage")).status).toBe(503);
});
