import { CALLED, CALLER, invite, OFFER } from "./messages.ts";
import type { Row } from "./sender.ts";

const ANSWERED = { status: 200, caller: CALLER, called: CALLED };
/** PCMU with telephone events, in both directions. */
const PLAIN = { ...ANSWERED, audio: "RTP/AVP 0 101 sendrecv" };

const described = (...media: string[]) => invite([], { body: [...OFFER.slice(0, 5), ...media] });
const parts = (type: string, ...lines: string[]) => invite([`Content-Type: ${type}`], { body: lines });
const sdpPart = (boundary: string, type = "Content-Type: application/sdp") => [`--${boundary}`, type, "", ...OFFER];

/** Descriptions and the bodies that they are a part of (RFC 4566, 5621; RFC 2046). */
export const BODIES: readonly Row[] = [
  ["a description", invite([]), PLAIN],
  ["a compact type with a parameter", invite(["c: Application/SDP ;charset=utf-8"]), PLAIN],
  ["no type", invite(["Content-Type:"]), PLAIN],
  ["no description", invite([], { body: [] }), { ...ANSWERED, audio: "RTP/AVP 0 8 101 sendrecv" }],
  [
    "two parts, of which the second looks like a description",
    parts(
      "multipart/mixed;boundary=b",
      ...sdpPart("b"),
      "",
      "--b",
      "Content-Type: text/plain",
      "",
      "a=inactive",
      "--b--",
    ),
    PLAIN,
  ],
  [
    "the description in the second part",
    parts('multipart/mixed; boundary="a b;c"', "--a b;c", "", "m=audio 9 RTP/AVP 9", ...sdpPart("a b;c"), "--a b;c--"),
    PLAIN,
  ],
  [
    "a preamble, and a part with more headers",
    parts(
      "Multipart/Mixed ; Boundary = b",
      "m=audio 9 RTP/AVP 9",
      ...sdpPart("b", "c: application/sdp"),
      "--b  ",
      "Content-Type: application/isup;version=itu-t92+",
      "Content-Disposition: signal;handling=optional",
      "",
      "a=sendonly",
      "--b--",
      "a=inactive",
    ),
    PLAIN,
  ],
  [
    "a description of early media before that of the call",
    parts(
      "multipart/mixed;boundary=b",
      "--b",
      "Content-Type: application/sdp",
      "Content-Disposition: early-session",
      "",
      ...OFFER.map((line) => line.replace("RTP/AVP 0 8 101", "RTP/AVP 9")),
      ...sdpPart("b"),
      "--b--",
    ),
    PLAIN,
  ],
  ["parts without an end", parts("multipart/mixed;boundary=b", ...sdpPart("b")), PLAIN],
  [
    "parts in a part",
    parts(
      "multipart/mixed;boundary=outer",
      "--outer",
      "Content-Type: multipart/alternative;boundary=inner",
      "",
      ...sdpPart("inner"),
      "--inner--",
      "--outer--",
    ),
    PLAIN,
  ],
  [
    "bytes that are no text before the description",
    parts(
      "multipart/mixed;boundary=b",
      "--b",
      "Content-Type: application/isup",
      "",
      `BYTES`.repeat(8),
      ...sdpPart("b"),
      "--b--",
    ),
    PLAIN,
  ],
  [
    "parts without a description",
    parts("multipart/mixed;boundary=b", "--b", "Content-Type: application/pidf+xml", "", "<presence/>", "--b--"),
    { ...ANSWERED, audio: "RTP/AVP 0 8 101 sendrecv" },
  ],
  ["another type", parts("text/plain", "Hello"), { status: 415 }],
  ["an encoded description", invite(["Content-Encoding: gzip"]), { status: 415 }],
  [
    "another type that we may ignore",
    invite(["Content-Type: text/plain", "Content-Disposition: render; handling=Optional"], { body: ["Hello"] }),
    { ...ANSWERED, audio: "RTP/AVP 0 8 101 sendrecv" },
  ],

  ["PCMA only", described("m=audio RTP_PORT RTP/AVP 8"), { ...ANSWERED, audio: "RTP/AVP 8 sendrecv" }],
  [
    "codecs that we lack before ours",
    described("m=audio RTP_PORT RTP/AVP 96 9 8 0 97", "a=rtpmap:96 opus/48000/2", "a=rtpmap:97 telephone-event/8000"),
    { ...ANSWERED, audio: "RTP/AVP 8 97 sendrecv" },
  ],
  [
    "telephone events of another clock too",
    described(
      "m=audio RTP_PORT RTP/AVP 0 100 101",
      "a=rtpmap:100 telephone-event/48000",
      "a=rtpmap:101 telephone-event/8000",
    ),
    PLAIN,
  ],
  [
    "a dynamic type for PCMU",
    described("m=audio RTP_PORT RTP/AVP 97", "a=rtpmap:97 pcmu/8000/1"),
    { ...ANSWERED, audio: "RTP/AVP 97 sendrecv" },
  ],
  ["hold", described("a=sendonly", "m=audio RTP_PORT RTP/AVP 0"), { ...ANSWERED, audio: "RTP/AVP 0 recvonly" }],
  [
    "video beside audio",
    described("m=video 40002 RTP/AVP 34", "m=audio RTP_PORT RTP/AVP 0"),
    { ...ANSWERED, audio: "RTP/AVP 0 sendrecv" },
  ],
  [
    "an encrypted stream beside a plain one",
    described(
      "m=audio RTP_PORT RTP/SAVP 0",
      "a=crypto:1 AES_256_CM_HMAC_SHA1_80 inline:x",
      "m=audio RTP_PORT RTP/AVP 0",
    ),
    { ...ANSWERED, audio: "RTP/AVP 0 sendrecv" },
  ],
  ["wideband only", described("m=audio RTP_PORT RTP/AVP 9"), { status: 488 }],
  ["video only", described("m=video RTP_PORT RTP/AVP 34"), { status: 488 }],
  ["audio that is refused", described("m=audio 0 RTP/AVP 0"), { status: 488 }],
  ["a description that is none", invite([], { body: ["Hello"] }), { status: 488 }],
];

/** Keys by INFO: the type, the body, and the key; null if it reports none. */
export const KEYS: readonly (readonly [type: string, body: string, key: string | null])[] = [
  ["application/dtmf-relay", "Signal=5\r\nDuration=160\r\n", "5"],
  ["application/dtmf-relay", "Signal= *\r\nDuration= 250", "*"],
  ["application/dtmf-relay", "Duration=100\nsignal = #\n", "#"],
  ["application/dtmf-relay", "Signal=10\r\nDuration=160\r\n", "*"],
  ["application/dtmf-relay", "Signal=11\r\nDuration=160\r\n", "#"],
  ["application/dtmf-relay", "Signal=12\r\n", "A"],
  ["application/dtmf-relay", "Signal=d\r\n", "D"],
  ["application/dtmf-relay", "Signal=16\r\n", null],
  ["application/dtmf-relay", "Signal=\r\nDuration=5\r\n", null],
  ["Application/DTMF", "5", "5"],
  ["application/dtmf", "#\r\n", "#"],
  ["application/dtmf", "10", "*"],
  ["application/dtmf", "Signal=0\r\n", "0"],
  ["multipart/mixed;boundary=b", "--b\r\nContent-Type: application/dtmf-relay\r\n\r\nSignal=7\r\n--b--\r\n", "7"],
  ["application/broadsoft", "event flashhook\r\n", null],
  ["text/plain", "5", null],
  ["application/media_control+xml", "<media_control/>", null],
];
