import { newId } from "../ids.ts";

/** A new owner's id; other services than the account service need nothing more. */
export function newOwner(): string {
  return newId("own");
}
