import { notFound, ServiceError } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { deleteSecretRow, isSecret } from "../store/secrets.ts";

export function deleteSecret({ db, agents }: AccountContext): Handler<"deleteSecret"> {
  return async ({ ownerId, name }, call) => {
    if (!(await isSecret(db, { ownerId, name }))) throw notFound("Secret");
    const { toolNames, agentIds } = await agents.listSecretUsers({ ownerId, secretName: name }, { origin: call });
    if (toolNames.length > 0) throw isUsed(name, namesOf("tool", toolNames), "every tool");
    if (agentIds.length > 0) throw isUsed(name, `the start webhook of ${namesOf("agent", agentIds)}`, "every agent");
    if (!(await deleteSecretRow(db, { ownerId, name }))) throw notFound("Secret");
    return {};
  };
}

function isUsed(name: string, by: string, everywhere: string): ServiceError {
  return new ServiceError(
    "conflict",
    `Secret ${name} is used by ${by}: take it out of ${everywhere} before deleting it`,
  );
}

function namesOf(what: string, names: readonly string[]): string {
  return `the ${names.length === 1 ? what : `${what}s`} ${names.join(", ")}`;
}
