import { newId } from "../ids.ts";

/** A new owner's id, which is all that services other than the account service need. */
export function newOwner(): string {
  return newId("own");
}
