import type { Database } from "@parley/shared/db/database";
import { deleteOldRows } from "@parley/shared/jobs/old-rows";
import { firstTexts } from "@parley/testkit/statement-cost/filled-tables";
import { NOW, type Statement, testOldPlans } from "@parley/testkit/statement-cost/old-plans";
import { OLD_INCOMING } from "../src/store/incoming.ts";
import { OLD_DAYS } from "../src/store/message-days.ts";
import { OLD_OUTGOING, storeStatuses } from "../src/store/outgoing.ts";
import { SILENT_THREADS } from "../src/store/threads.ts";

const SENT = { state: "'sent'", delivery: "'sent'", carrier_id: "'car_1'", external_id: "lpad(n::text, 8, '0')" };
const READ = firstTexts(300).map((externalId) => ({
  externalId,
  messageId: null,
  status: "read" as const,
  errorCode: null,
}));

const STATEMENTS: Statement[] = [
  ...[SILENT_THREADS, OLD_OUTGOING, OLD_INCOMING, ...OLD_DAYS].map((rows) => ({
    name: `deleteOldRows of ${rows.table}`,
    tables: { [rows.table]: rows === OLD_OUTGOING ? SENT : {} },
    run: (db: Database) => deleteOldRows(db, { ...rows, keptMs: 0, rows: 300 }, NOW),
    expected: 300,
  })),
  {
    name: "storeStatuses",
    tables: { outgoing_messages: SENT },
    run: (db, ownerId) =>
      db.begin(async (tx) => (await storeStatuses(tx, { ownerId, carrierId: "car_1" }, READ)).length),
    expected: 300,
  },
];

testOldPlans("messaging", STATEMENTS);
