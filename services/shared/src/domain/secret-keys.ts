import type { AccountServiceService, RevealedSecret } from "@parley/proto/parley/account/v1/account_service.ts";
import { ServiceError } from "../errors.ts";
import type { ServiceClient } from "../rpc/client.ts";

/** Reveals the owner's secrets of these names, as far as they exist. */
export type RevealSecrets = (ownerId: string, names: readonly string[]) => Promise<readonly RevealedSecret[]>;

/** Asks the account service, once more if it went away in the middle; the second time, the client waits for it to come back. */
export function revealing(accounts: Pick<ServiceClient<typeof AccountServiceService>, "revealSecrets">): RevealSecrets {
  return async (ownerId, names) => {
    const ask = () => accounts.revealSecrets({ ownerId, names: [...names] });
    const { secrets } = await ask().catch((error) => {
      if (error instanceof ServiceError && error.kind === "unavailable") return ask();
      throw error;
    });
    return secrets;
  };
}

/** The form of a key, as the API takes it in a text. */
const KEY = /^[\x21-\x7e]+$/;

/** The values of those of the owner's secrets that exist and can be a key, by name. @param names undefined for a key that is a text */
export async function secretKeys(
  reveal: RevealSecrets,
  ownerId: string,
  names: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(names.filter((name) => name !== undefined))];
  const revealed = wanted.length === 0 ? [] : await reveal(ownerId, wanted);
  return new Map(revealed.filter(({ value }) => KEY.test(value)).map(({ name, value }) => [name, value]));
}

/** @param path of a model or speech server of the agent */
export function noSecretKey(path: string, name: string): ServiceError {
  const field = `${path}.params.api_key`;
  return new ServiceError(
    "condition",
    `The agent's ${field} cannot be used: the secret ${name} does not exist, or is not printable ASCII without spaces`,
  );
}
