import { notFound, ServiceError } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { deleteSecretRow, isSecret } from "../store/secrets.ts";

export function deleteSecret({ db, agents }: AccountContext): Handler<"deleteSecret"> {
  return async ({ ownerId, name }, call) => {
    if (!(await isSecret(db, { ownerId, name }))) throw notFound("Secret");
    const { toolNames } = await agents.listSecretUsers({ ownerId, secretName: name }, { origin: call });
    if (toolNames.length > 0) {
      const tools = `the ${toolNames.length === 1 ? "tool" : "tools"} ${toolNames.join(", ")}`;
      throw new ServiceError(
        "conflict",
        `Secret ${name} is used by ${tools}: take it out of every tool before deleting it`,
      );
    }
    if (!(await deleteSecretRow(db, { ownerId, name }))) throw notFound("Secret");
    return {};
  };
}
