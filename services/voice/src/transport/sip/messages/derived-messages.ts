import { tagOf } from "./address.ts";
import { headerOf, headersOf, type SipRequest, type SipResponse } from "./message.ts";

/** The answer to a request: its Via, From, To, Call-ID and CSeq. */
export function responseTo(
  request: SipRequest,
  status: number,
  reason: string,
  {
    toTag,
    headers = {},
    body = "",
  }: { toTag?: string; headers?: Record<string, string | string[]>; body?: string } = {},
): SipResponse {
  const copied = ["via", "from", "to", "call-id", "cseq", "record-route"].map((name): [string, string[]] => [
    name,
    [...(request.headers.get(name) ?? [])],
  ]);
  const all = headersOf({ ...Object.fromEntries(copied), ...headers });
  if (toTag && tagOf(request, "to") === undefined) all.set("to", [`${headerOf(request, "to")};tag=${toTag}`]);
  return { status, reason, headers: all, body };
}

/** The CANCEL of an INVITE that was sent: same branch, same CSeq number (RFC 3261, section 9.1). */
export function cancelOf(invite: SipRequest): SipRequest {
  return { ...invite, method: "CANCEL", headers: copiedHeaders(invite, "CANCEL"), body: "" };
}

/** A refusal's ACK belongs to the INVITE's transaction (RFC 3261, section 17.1.1.3). */
export function ackOfRefusal(invite: SipRequest, response: SipResponse): SipRequest {
  const headers = copiedHeaders(invite, "ACK").set("to", [...(response.headers.get("to") ?? [])]);
  return { ...invite, method: "ACK", headers, body: "" };
}

function copiedHeaders({ headers }: SipRequest, method: string): Map<string, string[]> {
  const names = ["via", "from", "to", "call-id", "max-forwards", "route"];
  const copied = names.flatMap((name): [string, string[]][] => {
    const values = headers.get(name);
    return values ? [[name, [...values]]] : [];
  });
  const number = headers.get("cseq")?.[0]?.split(" ")[0] ?? "";
  return new Map([...copied, ["cseq", [`${number} ${method}`]]]);
}
