import { CALLED, CALLER, invite, OFFER, raw } from "./messages.ts";
import type { Row } from "./sender.ts";

const ANSWERED = { status: 200, caller: CALLER, called: CALLED };
const DROPPED = { status: null };

const HEAD = [
  `INVITE sip:${CALLED}@127.0.0.1 SIP/2.0`,
  "Via: SIP/2.0/UDP 127.0.0.1:PORT;branch=z9hG4bKUNIQUE;rport",
  `From: <sip:${CALLER}@127.0.0.1>;tag=theirs`,
  `To: <sip:${CALLED}@127.0.0.1>`,
  "Call-ID: UNIQUE",
  "CSeq: 1 INVITE",
  "Contact: <sip:me@127.0.0.1:PORT>",
  "Content-Type: application/sdp",
];
/** The message with a line replaced by others, or with its lines as they are and others behind them. */
const instead = (start: string, ...lines: string[]) =>
  raw(
    HEAD.flatMap((line) => (line.startsWith(start) ? lines : [line])),
    OFFER,
  );
const besides = (...lines: string[]) => raw([...HEAD, ...lines], OFFER);

/** What a parser meets once in its life (after RFC 4475, whose sections the comments name). */
export const TORTURE: readonly Row[] = [
  // 3.1.1.1
  [
    "every liberty that the grammar gives",
    raw(
      [
        `INVITE sip:${CALLED};unknownparam@127.0.0.1 SIP/2.0`,
        "TO :",
        ` sip:${CALLED}@127.0.0.1 `,
        `from   : "J Rosenberg \\\\\\""       <sip:${CALLER}@127.0.0.1>`,
        "  ;",
        "  tag = 98asjd8",
        "MaX-fOrWaRdS: 0068",
        "Call-ID: UNIQUE",
        "Content-Length   : LENGTH",
        "cseq: 0009",
        "  INVITE",
        "Via  : SIP  /   2.0",
        " /UDP",
        "    127.0.0.1:PORT;rport ;branch = z9hG4bKUNIQUE",
        "s :",
        "NewFangledHeader:   newfangled value",
        " continued newfangled value",
        "UnknownHeaderWithUnusualValue: ;;,,;;,;",
        "Content-Type: application/sdp",
        "Route:",
        " <sip:services.example.com;lr;unknownwith=value;unknown-no-value>",
        "v:  SIP  / 2.0  / TCP     spindle.example.com   ;",
        "  branch  =   z9hG4bK9ikj8  ,",
        " SIP  /    2.0   / UDP  192.168.255.111   ; branch=",
        " z9hG4bK30239",
        `m:"Quoted string \\"\\"" <sip:me@127.0.0.1:PORT> ; newparam =`,
        "      newvalue ;",
        "  secondparam ; q = 0.33",
      ],
      OFFER,
    ),
    ANSWERED,
  ],
  // 3.1.1.2
  [
    "a method of every character that a token may have",
    instead("INVITE", "!interesting-Method0123456789_*+`.%indeed'~ sip:x@127.0.0.1 SIP/2.0").replace(
      "1 INVITE",
      "1 !interesting-Method0123456789_*+`.%indeed'~",
    ),
    { status: 405 },
  ],
  // 3.1.1.3
  ["escapes in the user", invite([], { uri: "sip:%2b%31214%35550100@127.0.0.1" }), ANSWERED],
  // 3.1.1.5: a method is not percent-decoded
  [
    "an escaped method",
    instead("INVITE", "INV%49TE sip:x@127.0.0.1 SIP/2.0").replace("1 INVITE", "1 INV%49TE"),
    { status: 405 },
  ],
  // 3.1.1.7
  ["long values", besides(`X-Long: ${"unknown".repeat(500)}`, `Subject: ${" x".repeat(500)}`), ANSWERED],
  // 3.1.1.8
  ["another message behind its body", `${invite([])}REGISTER sip:example.com SIP/2.0\r\n\r\n`, ANSWERED],
  // 3.1.1.9
  ["an address in the user's parameters", invite([], { uri: `sip:${CALLED};par=u%40example.net@127.0.0.1` }), ANSWERED],
  // 3.1.1.10
  ["a route over transports that do not exist", besides("Via: SIP/2.0/UNKNOWN 192.0.2.1;branch=z9hG4bKa"), ANSWERED],
  // 3.1.2.2
  ["a length beyond its body", besides("Content-Length: 9999"), DROPPED],
  // 3.1.2.3
  ["a negative length", besides("Content-Length: -999"), DROPPED],
  // 3.1.2.4
  ["a number of 20 digits", instead("CSeq", "CSeq: 36893488147419103232 INVITE"), DROPPED],
  // 3.1.2.7
  ["brackets around the request URI", instead("INVITE", `INVITE <sip:${CALLED}@127.0.0.1> SIP/2.0`), { status: 416 }],
  // 3.1.2.8
  ["a space in the request URI", instead("INVITE", `INVITE sip:${CALLED}@127.0.0.1; lr SIP/2.0`), DROPPED],
  // 3.1.2.9
  ["two spaces in the first line", instead("INVITE", `INVITE  sip:${CALLED}@127.0.0.1  SIP/2.0`), DROPPED],
  // 3.1.2.11
  ["headers in the request URI", invite([], { uri: `sip:${CALLED}@127.0.0.1?Route=%3Csip:example.com%3E` }), ANSWERED],
  // 3.1.2.13
  ["headers in a Contact without brackets", invite(["Contact: sip:me@127.0.0.1:PORT?Route=%3Csip:x%3E"]), ANSWERED],
  // 3.1.2.16
  ["another version", instead("INVITE", `INVITE sip:${CALLED}@127.0.0.1 SIP/7.0`), DROPPED],
  // 3.1.2.17
  ["another method in CSeq", instead("CSeq", "CSeq: 1 OPTIONS"), DROPPED],
  // 3.2.1
  [
    "a branch that is no more than the cookie",
    instead("Via", "Via: SIP/2.0/UDP 127.0.0.1:PORT;branch=z9hG4bK;rport"),
    ANSWERED,
  ],
  // 3.3.1
  ["no From", instead("From"), DROPPED],
  ["no Call-ID", instead("Call-ID"), DROPPED],
  // 3.3.2 and 3.3.3
  ["a scheme that nobody knows", invite([], { uri: "nobodyKnowsThisScheme:totallyopaque" }), { status: 416 }],
  ["a scheme of another protocol", invite([], { uri: "soap.beep://192.0.2.103:3002" }), { status: 416 }],
  // 3.3.4
  [
    "unknown schemes in To and From",
    invite(["To: isbn:2983792873", "From: <http://www.example.com>;tag=323"]),
    { status: 200, called: CALLED },
  ],
  // 3.3.5
  ["an extension that we lack", besides("Require: nothingSupportsThis, timer"), { status: 420 }],
  // 3.3.8
  ["two of what there is one of", besides("CSeq: 2 INVITE", "From: <sip:+19005550100@127.0.0.1>;tag=x"), DROPPED],
  // 3.3.9
  ["two lengths", besides("Content-Length: 26", "Content-Length: 500"), DROPPED],
  // 3.3.11
  ["no hops left, for it has arrived", besides("Max-Forwards: 0"), ANSWERED],
  // 3.4.1
  ["no branch, as before RFC 3261", instead("Via", "Via: SIP/2.0/UDP 127.0.0.1:PORT"), DROPPED],
];
