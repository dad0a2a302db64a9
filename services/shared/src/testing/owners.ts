import { newId } from "../ids.ts";

/** The id of an owner that nobody else has. Services but the account service need no more of one. */
export function newOwner(): string {
  return newId("own");
}
