import { deleteOwnedRows } from "@parley/shared/db/owned-rows";
import { newId } from "@parley/shared/ids";
import { deleteOldRows } from "@parley/shared/jobs/old-rows";
import { firstTexts } from "@parley/testkit/statement-cost/filled-tables";
import { NOW, ROWS, type Statement, testOldPlans } from "@parley/testkit/statement-cost/old-plans";
import { findStates } from "../src/store/agents.ts";
import { EXPIRED_DRAFTS, insertDraft } from "../src/store/drafts.ts";

const AGENTS = { agents: { agent_type: "'INBOUND'", agent_tips: "'{}'", agent_mobile_numbers: "'{}'" } };
const DRAFTS = { agent_drafts: { bytes: "100" } };

const agentsOf = (ownerId: string, count: number) => firstTexts(count).map((agentId) => ({ ownerId, agentId }));

const STATEMENTS: Statement[] = [
  {
    name: "insertDraft",
    tables: DRAFTS,
    run: async (db, ownerId) => {
      const key = { ownerId, agentId: "agt_1", draftId: newId("drf") };
      const draft = { row: {}, prompt: undefined, analysisPrompt: undefined } as Parameters<typeof insertDraft>[2];
      await insertDraft(db, key, draft, { now: NOW, expiresAt: NOW, bytesMax: 70_050 });
      const [row] = await db<{ kept: number }[]>`
        select count(*) as kept from agent_drafts where owner_id = ${ownerId} and expires_at < ${NOW}`;
      return row?.kept;
    },
    expected: 700,
  },
  {
    name: "deleteOldRows of drafts",
    tables: DRAFTS,
    run: (db) => deleteOldRows(db, { ...EXPIRED_DRAFTS, rows: 300 }, NOW),
    expected: 300,
  },
  {
    name: "findStates with many ids",
    tables: AGENTS,
    run: async (db, ownerId) => (await findStates(db, agentsOf(ownerId, 300))).length,
    expected: 300,
  },
  {
    name: "deleteOwnedRows",
    tables: { idempotency_keys: {} },
    rows: 5 * ROWS,
    run: (db, ownerId) =>
      deleteOwnedRows(db, { name: "idempotency_keys", key: ["idempotency_key"], rows: 10 }, ownerId),
    expected: 10,
    handledMax: 100,
    planned: ["for rows of others"],
  },
];

testOldPlans("agent", STATEMENTS);
