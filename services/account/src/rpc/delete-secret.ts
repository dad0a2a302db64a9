import { notFound, ServiceError } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { deleteSecretRow, isSecret } from "../store/secrets.ts";

export function deleteSecret({ db, agents }: AccountContext): Handler<"deleteSecret"> {
  return async ({ ownerId, name }, call) => {
    const isThere = await isSecret(db, { ownerId, name });
    if (isThere) {
      const { toolNames, agentIds } = await agents.listSecretUsers({ ownerId, secretName: name }, { origin: call });
      if (toolNames.length > 0) throw isUsed(name, namesOf("tool", toolNames), "every tool");
      if (agentIds.length > 0) throw isUsed(name, namesOf("agent", agentIds), "every model and start webhook");
      await deleteSecretRow(db, { ownerId, name });
    }
    // Conversations that still run on an earlier version may remember it, also if an earlier request deleted it and failed here.
    await agents.renewKeys({ ownerId }, { origin: call });
    if (!isThere) throw notFound("Secret");
    return {};
  };
}

function isUsed(name: string, by: string, places: string): ServiceError {
  return new ServiceError(
    "conflict",
    `Secret ${name} is used by ${by}: take it out of ${places}, in published versions too, before deleting it`,
  );
}

function namesOf(what: string, names: readonly string[]): string {
  return `the ${names.length === 1 ? what : `${what}s`} ${names.join(", ")}`;
}
