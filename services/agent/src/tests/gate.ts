import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { listPublished } from "../store/publishes.ts";
import type { AgentVersion } from "../store/versions.ts";
import { PASS_VALID_MS, passKey } from "./score.ts";
import { listPasses } from "./store/passes.ts";
import { listRequiredTests } from "./store/tests.ts";

type GatedVersion = Pick<AgentVersion, "agentVersion" | "hash">;

/**
 * Requires that every required test of the agent has passed within 30 days for the versions that conversations are to get. One that was
 * published before needs no new pass, so that rolling back never waits for a test.
 * @throws ServiceError conflict that lists the tests, as violations of `override` too
 */
export async function requirePassed(
  tx: Sql,
  key: AgentKey,
  versions: readonly GatedVersion[],
  now: Date,
): Promise<void> {
  const tests = await listRequiredTests(tx, key);
  if (tests.length === 0) return;
  const published = await listPublished(
    tx,
    key,
    versions.map(({ agentVersion }) => agentVersion),
  );
  const gated = versions.filter(({ agentVersion }) => !published.has(agentVersion));
  const keys = gated.flatMap(({ hash }) => tests.map(({ definition }) => passKey(hash, definition)));
  const passed = await listPasses(tx, key, keys, new Date(now.getTime() - PASS_VALID_MS));
  const missing = gated
    .map(({ agentVersion, hash }) => ({
      agentVersion,
      names: tests.filter(({ definition }) => !passed.has(passKey(hash, definition))).map(({ name }) => name),
    }))
    .filter(({ names }) => names.length > 0);
  if (missing.length === 0) return;
  const told = missing.map(({ agentVersion, names }) => `${names.join(", ")} for version ${agentVersion}`);
  throw new ServiceError(
    "conflict",
    `Required tests have not passed within 30 days: ${told.join("; ")}. Run them, or give an override with its reason`,
    {
      violations: missing.flatMap(({ agentVersion, names }) =>
        names.map((name) => ({ path: "override", message: `${name} has not passed for version ${agentVersion}` })),
      ),
    },
  );
}
