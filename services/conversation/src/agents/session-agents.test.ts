import { expect, test } from "bun:test";
import type { Database } from "@parley/shared/db/database";
import { sessionAgents } from "./session-agents.ts";

const KEY = { ownerId: "own_1", conversationId: "01a22808-0365-70ca-b2ed-77a664b5fddb" };
const AGENT = { agentId: "agt_1", agentVersion: 1, askedAgentId: null, isStarting: false };

test("of a session that begins, only its agent and version are remembered, and not its message", () => {
  const sessions = sessionAgents(null as never as Database);
  const session = { ...AGENT, message: "Hello ".repeat(10_000), metadata: { note: "Long" } };
  sessions.keep(KEY, session);
  expect(sessions.known(KEY)).toEqual(AGENT);
});
