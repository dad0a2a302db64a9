import { isWithheldName, isWithheldUser } from "../../../caller-number.ts";
import { addressesIn, addressIn, readUri, type SipUri } from "./address.ts";
import type { SipRequest } from "./message.ts";

/** The levels of RFC 3323 and RFC 3325 that hide who calls. */
const HIDING = ["id", "user", "header"];

/** Whom the caller claims to be, then whom the network asserts (RFC 3325 and Remote-Party-ID). Empty if the caller withholds it. */
export function identitiesOf(request: SipRequest): SipUri[] {
  if (isWithheld(request)) return [];
  return ["from", "p-asserted-identity", "remote-party-id"]
    .flatMap((header) => addressesIn(request, header))
    .map(({ uri }) => readUri(uri))
    .filter((uri) => uri !== null);
}

function isWithheld(request: SipRequest): boolean {
  const levels = request.headers.get("privacy")?.flatMap((value) => value.toLowerCase().split(/[;,\s]+/)) ?? [];
  if (levels.some((level) => HIDING.includes(level))) return true;
  const hidden = addressIn(request, "remote-party-id")?.params.get("privacy")?.toLowerCase();
  if (hidden === "full" || hidden === "uri") return true;
  const from = addressIn(request, "from");
  const { user = "", host = "" } = readUri(from?.uri ?? "") ?? {};
  return host.toLowerCase().endsWith(".invalid") || isWithheldName(from?.name ?? "") || isWithheldUser(user);
}
