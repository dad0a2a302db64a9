import { NOW, ROWS, type Statement, testOldPlans } from "@parley/testkit/statement-cost/old-plans";
import { findTrunkOfNumber } from "../src/store/carriers.ts";
import { deleteUnusedSessions } from "../src/store/sessions.ts";

const STATEMENTS: Statement[] = [
  {
    name: "deleteUnusedSessions",
    tables: { owners: { owner_id: "n::text", email: "n::text" }, sessions: { owner_id: "n::text" } },
    run: async (db) => {
      await deleteUnusedSessions(db, NOW);
      const [row] = await db<{ left: number }[]>`select count(*) as left from sessions where last_used_at < ${NOW}`;
      return row?.left;
    },
    expected: ROWS - 10,
  },
  {
    name: "findTrunkOfNumber",
    tables: {
      owners: { owner_id: "n::text", email: "n::text" },
      carriers: { owner_id: "n::text", carrier_id: "'car_' || n", provider: "'SIP'" },
      mobile_numbers: { owner_id: "n::text", mobile_number: "n::text", carrier_id: "'car_' || n" },
    },
    run: async (db) => (await findTrunkOfNumber(db, "500"))?.carrierId,
    expected: "car_500",
  },
];

testOldPlans("account", STATEMENTS);
