import { notFound, ServiceError } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { deleteSecretRow, isSecret } from "../store/secrets.ts";

export function deleteSecret({ db, agents }: AccountContext): Handler<"deleteSecret"> {
  return async ({ ownerId, name }, call) => {
    if (!(await isSecret(db, { ownerId, name }))) throw notFound("Secret");
    const { toolNames, agentIds } = await agents.listSecretUsers({ ownerId, secretName: name }, { origin: call });
    if (toolNames.length > 0) throw isUsed(name, namesOf("tool", toolNames), "every tool");
    if (agentIds.length > 0) throw isUsed(name, namesOf("agent", agentIds), "every model and start webhook");
    if (!(await deleteSecretRow(db, { ownerId, name }))) throw notFound("Secret");
    // Conversations that still run on an earlier version may remember it.
    await agents.renewKeys({ ownerId }, { origin: call });
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
