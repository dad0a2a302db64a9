import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { invalid, ServiceError } from "@parley/shared/errors";
import { type Actor, actorText } from "@parley/shared/rpc/actor";
import type { AgentRow } from "../store/agents.ts";
import { insertPublishes } from "../store/publishes.ts";
import { listRequiredTests, type TestRow } from "./store/tests.ts";

/**
 * A required test decides what is published, so the agent must not publish every change at once.
 * @throws ServiceError invalid
 */
export function requireManual({ publishing }: Pick<AgentRow, "publishing">): void {
  if (publishing === "manual") return;
  throw invalid(
    "required",
    'required needs an agent whose publishing is "manual": changes of this one take effect at once',
  );
}

/** For a change that makes an agent publish every change at once. @throws ServiceError invalid if it has required tests */
export async function requireNoRequiredTests(tx: Sql, key: AgentKey): Promise<void> {
  const tests = await listRequiredTests(tx, key);
  if (tests.length === 0) return;
  const names = tests.map(({ name }) => name).join(", ");
  throw invalid("publishing", `publishing must be "manual" while the agent has required tests: ${names}`);
}

interface Logged {
  actor: Actor;
  now: Date;
}

/**
 * Writes to the publish log that a required test no longer is one.
 * @param mayOverride whether the caller may do so
 * @throws ServiceError forbidden
 */
export async function loosenGate(
  tx: Sql,
  test: TestRow,
  { kind, mayOverride, ...logged }: Logged & { kind: "test_cleared" | "test_deleted"; mayOverride: boolean },
): Promise<void> {
  if (!mayOverride)
    throw new ServiceError("forbidden", "The API key lacks the scope agents:override, which * does not include");
  await log(tx, test, kind, test.name, logged);
}

/** Writes to the publish log which fields of a required test change, if any do: it may be easier to pass now. */
export async function logChange(tx: Sql, before: TestRow, after: TestRow, logged: Logged): Promise<void> {
  const fieldsOf = ({ name, definition }: TestRow) => Object.entries({ name, ...definition });
  const was = new Map<string, unknown>(fieldsOf(before));
  const changed = fieldsOf(after).flatMap(([field, value]) => (Bun.deepEquals(value, was.get(field)) ? [] : field));
  if (changed.length > 0) await log(tx, before, "test_changed", `${before.name}: ${changed.join(", ")}`, logged);
}

async function log(
  tx: Sql,
  { ownerId, agentId }: TestRow,
  kind: "test_changed" | "test_cleared" | "test_deleted",
  note: string,
  { actor, now }: Logged,
): Promise<void> {
  await insertPublishes(tx, [{ ownerId, agentId, kind, note, createdBy: actorText(actor), createdAt: now }]);
}
