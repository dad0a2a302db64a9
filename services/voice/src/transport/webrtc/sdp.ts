/** What each side of a connection tells the other about its transport, which all media share (BUNDLE, RFC 9143). */
export interface Transport {
  iceName: string;
  icePassword: string;
  /** Of the certificate: the hash's name and its value. */
  fingerprint: string;
  /** Who begins the DTLS handshake (RFC 8842). */
  setup: "actpass" | "active" | "passive";
  candidates: readonly string[];
}

export type Direction = "sendrecv" | "sendonly" | "recvonly";

/** A medium of a description. An offer may leave out the name. */
export type Medium = { name: string | null } & (
  | { kind: "audio"; payloadType: number; direction: Direction }
  | { kind: "data"; port: number; messageMaxBytes: number }
  /** Its place is kept, because an answer has as many media as the offer (RFC 3264, section 6). */
  | { kind: "refused"; type: string; protocol: string; formats: string }
);

/** Writes a session description with audio in Opus and a data channel (RFC 8866, RFC 8829). */
export function writeSdp(transport: Transport, media: readonly Medium[]): string {
  const bundled = media.filter(({ kind, name }) => kind !== "refused" && name !== null).map(({ name }) => name);
  const lines = [
    "v=0",
    "o=- 1 1 IN IP4 0.0.0.0",
    "s=-",
    "t=0 0",
    ...(bundled.length > 0 ? [`a=group:BUNDLE ${bundled.join(" ")}`] : []),
    ...media.flatMap((medium) => [
      ...linesOf(medium),
      ...(medium.name === null ? [] : [`a=mid:${medium.name}`]),
      ...(medium.kind === "refused" ? ["a=inactive"] : transportLines(transport)),
    ]),
  ];
  return lines.map((line) => `${line}\r\n`).join("");
}

function linesOf(medium: Medium): string[] {
  switch (medium.kind) {
    case "audio":
      return [
        `m=audio 9 UDP/TLS/RTP/SAVPF ${medium.payloadType}`,
        "c=IN IP4 0.0.0.0",
        `a=rtpmap:${medium.payloadType} opus/48000/2`,
        "a=rtcp-mux",
        "a=msid:parley audio",
        `a=${medium.direction}`,
      ];
    case "data":
      return [
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
        "c=IN IP4 0.0.0.0",
        `a=sctp-port:${medium.port}`,
        `a=max-message-size:${medium.messageMaxBytes}`,
      ];
    case "refused":
      return [`m=${medium.type} 0 ${medium.protocol} ${medium.formats}`, "c=IN IP4 0.0.0.0"];
  }
}

function transportLines({ iceName, icePassword, fingerprint, setup, candidates }: Transport): string[] {
  return [
    `a=ice-ufrag:${iceName}`,
    `a=ice-pwd:${icePassword}`,
    `a=fingerprint:${fingerprint}`,
    `a=setup:${setup}`,
    ...candidates.map((candidate) => `a=candidate:${candidate}`),
    ...(candidates.length > 0 ? ["a=end-of-candidates"] : []),
  ];
}
