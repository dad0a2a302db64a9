import { firstTexts } from "@parley/testkit/statement-cost/filled-tables";
import { NOW, type Statement, testOldPlans } from "@parley/testkit/statement-cost/old-plans";
import { deleteOldIncoming } from "../src/store/incoming.ts";
import { deleteOldDays } from "../src/store/message-days.ts";
import { deleteOldOutgoing, storeStatuses } from "../src/store/outgoing.ts";
import { deleteSilentThreads } from "../src/store/threads.ts";

const SENT = { state: "'sent'", delivery: "'sent'", carrier_id: "'car_1'", external_id: "lpad(n::text, 8, '0')" };
const READ = firstTexts(300).map((externalId) => ({
  externalId,
  messageId: null,
  status: "read" as const,
  errorCode: null,
}));

const STATEMENTS: Statement[] = [
  {
    name: "deleteSilentThreads",
    tables: { threads: {} },
    run: (db) => deleteSilentThreads(db, NOW, 300),
    expected: 300,
  },
  {
    name: "deleteOldOutgoing",
    tables: { outgoing_messages: SENT },
    run: (db) => deleteOldOutgoing(db, NOW, 300),
    expected: 300,
  },
  {
    name: "deleteOldIncoming",
    tables: { incoming_messages: {} },
    run: (db) => deleteOldIncoming(db, NOW, 300),
    expected: 300,
  },
  {
    name: "deleteOldDays",
    tables: { message_days: {} },
    run: (db) => deleteOldDays(db, "message_days", NOW, 300),
    expected: 300,
  },
  {
    name: "deleteOldDays of senders",
    tables: { sender_days: {} },
    run: (db) => deleteOldDays(db, "sender_days", NOW, 300),
    expected: 300,
  },
  {
    name: "storeStatuses",
    tables: { outgoing_messages: SENT },
    run: (db, ownerId) =>
      db.begin(async (tx) => (await storeStatuses(tx, { ownerId, carrierId: "car_1" }, READ)).length),
    expected: 300,
  },
];

testOldPlans("messaging", STATEMENTS);
