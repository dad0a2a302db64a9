/** The hostile owner's client: a process that prepares one attack and, at a second message, runs it until it is killed. */
import { ATTACKS } from "../attacks.ts";
import { createHostile, type Hostile } from "./client.ts";
import type { Orders, Report } from "./orders.ts";

const TELL_MS = 200;

process.once("message", (orders: Orders) => {
  prepare(orders).catch((error) => tell({ failed: error instanceof Error ? error.message : String(error) }));
});

async function prepare(orders: Orders): Promise<void> {
  const attack = ATTACKS.find(({ name }) => name === orders.attack);
  if (!attack) throw new Error(`There is no attack ${orders.attack}`);
  const hostile = createHostile(orders);
  const run = await attack.prepare(hostile);
  process.once("message", () => {
    run().catch((error) => tell({ failed: String(error) }));
    setInterval(() => tell({ tally: hostile.tally }), TELL_MS);
  });
  forget(hostile);
  tell({ ready: true });
}

/** Requests of the preparation do not count as part of the attack. */
function forget({ tally }: Hostile): void {
  for (const key of Object.keys(tally)) delete tally[key];
}

function tell(report: Report): void {
  process.send?.(report);
}
