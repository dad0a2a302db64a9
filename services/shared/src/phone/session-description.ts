/** Where a party receives audio. */
export interface MediaAddress {
  /** IPv4. */
  address: string;
  port: number;
}

/** Offers PCMU in both directions (RFC 4566, RFC 3551). */
export function audioAt({ address, port }: MediaAddress): string {
  return [
    "v=0",
    `o=- ${Date.now()} 0 IN IP4 ${address}`,
    "s=-",
    `c=IN IP4 ${address}`,
    "t=0 0",
    `m=audio ${port} RTP/AVP 0`,
    "a=rtpmap:0 PCMU/8000",
    "a=sendrecv",
    "",
  ].join("\r\n");
}

/** Where the answer wants audio; null if it takes none. */
export function audioOf(body: string): MediaAddress | null {
  const address = /^c=IN IP4 (\S+)/m.exec(body)?.[1];
  const port = Number(/^m=audio (\d+) RTP\/AVP 0/m.exec(body)?.[1] ?? 0);
  return address && port > 0 ? { address, port } : null;
}
