import { CALLED, CALLER, invite } from "./messages.ts";
import type { Row } from "./sender.ts";

const ANSWERED = { status: 200, caller: CALLER, called: CALLED };
const WITHHELD = { status: 200, called: CALLED };
const from = (value: string) => invite([`From: ${value};tag=1`]);
const called = (uri: string) => invite([`To: <${uri}>`], { uri });
/** A call to a number of another country. */
const to = (number: string, caller: string) =>
  invite([`From: <sip:${caller}@127.0.0.1>;tag=1`, `To: <sip:${number}@127.0.0.1>`], {
    uri: `sip:${number}@127.0.0.1`,
  });

/** Numbers in the forms of carriers: whom is called, and who calls (RFC 3261, 3323, 3325, 3966, 4694). */
export const NUMBERS: readonly Row[] = [
  ["a ported number", called(`sip:${CALLED};npdi;rn=+12145550000@127.0.0.1;user=phone`), ANSWERED],
  ["a called number with a subaddress", called(`sip:${CALLED};isub=1411@127.0.0.1`), ANSWERED],
  ["a called number with a password", called(`sip:${CALLED}:secret@127.0.0.1:5060`), ANSWERED],
  ["a called number without a plus", called("sip:12145550100@127.0.0.1"), ANSWERED],
  ["a called number with 00", called("sip:0012145550100@127.0.0.1"), ANSWERED],
  ["a called number with an escaped plus", called("sip:%2B12145550100@127.0.0.1"), ANSWERED],
  ["a called number with separators", called("sip:+1(214)555-0100@127.0.0.1"), ANSWERED],
  ["a called number of scheme tel", called("tel:+1-214-555-0100;isub=1411"), ANSWERED],
  ["a called local number with its context", called("sip:2145550100;phone-context=+1@127.0.0.1;user=phone"), ANSWERED],
  ["a called number with an escaped parameter", called(`sip:${CALLED}%3Bnpdi@127.0.0.1`), ANSWERED],
  ["a called number of scheme sips", called(`sips:${CALLED}@127.0.0.1`), ANSWERED],
  ["a called number with headers", called(`sip:${CALLED}@127.0.0.1;user=phone?Subject=x`), ANSWERED],
  [
    "the name of a registration, with the number in To",
    invite([`To: "Office" <sip:${CALLED};npdi@127.0.0.1>`], { uri: "sip:parley@127.0.0.1" }),
    ANSWERED,
  ],
  [
    "the name of a registration, with a tel number in To",
    invite([`To: <tel:${CALLED}>`], { uri: "sip:parley@127.0.0.1" }),
    ANSWERED,
  ],
  ["a called address of a scheme that we lack", called("urn:service:sos"), { status: 416 }],
  ["a called address that is no URI", called("127.0.0.1"), { status: 416 }],

  ["a category of the caller", from(`"Ada" <sip:${CALLER};cpc=ordinary@127.0.0.1;user=phone>`), ANSWERED],
  ["a caller's tel number", from(`"Ada" <tel:${CALLER};cpc=payphone>`), ANSWERED],
  ["a caller's tel number without brackets", from(`tel:${CALLER}`), ANSWERED],
  ["a caller's local number with its context", from("<tel:555-0123;phone-context=+1415>"), ANSWERED],
  ["a caller's number without a plus", from("<sip:14155550123@127.0.0.1>"), ANSWERED],
  ["a caller's number with 00", from("<sip:0014155550123@127.0.0.1>"), ANSWERED],
  ["a caller's number with separators", from("<sip:+1-415-555.0123@127.0.0.1>"), ANSWERED],
  ["marks of direction around a number", from("<sip:%E2%80%AA+14155550123%E2%80%AC@127.0.0.1>"), ANSWERED],
  ["invisible marks in a number", from("<sip:\u202d+1415\u200b5550123\u202c@127.0.0.1>"), ANSWERED],
  ["a national number from North America", from("<sip:4155550123@127.0.0.1>"), ANSWERED],
  ["a foreign number without a plus", from("<sip:442071838750@127.0.0.1>"), { ...ANSWERED, caller: "+442071838750" }],
  [
    "a national number called in London",
    to("+442079460000", "02071838750"),
    { status: 200, caller: "+442071838750", called: "+442079460000" },
  ],
  [
    "a foreign number without a plus called in Berlin",
    to("+493012345678", "442071838750"),
    { status: 200, caller: "+442071838750", called: "+493012345678" },
  ],
  [
    "a national number called in Mumbai",
    to("+912212345678", "9845012345"),
    { status: 200, caller: "+919845012345", called: "+912212345678" },
  ],
  ["an extension as the caller", from('"Ada" <sip:101@127.0.0.1>'), WITHHELD],
  ["digits that are no number", from("<sip:99999999999@127.0.0.1>"), WITHHELD],
  ["a name as the caller", from('"Ada" <sip:ada@127.0.0.1>'), WITHHELD],
  [
    "a name as the caller, and an asserted number",
    invite(['From: "Ada" <sip:ada@127.0.0.1>;tag=1', `P-Asserted-Identity: "A, B" <sip:ada@x>, <tel:${CALLER}>`]),
    ANSWERED,
  ],
  [
    "a name as the caller, and the number of the remote party",
    invite([
      'From: "Ada" <sip:ada@127.0.0.1>;tag=1',
      `Remote-Party-ID: "Ada" <sip:${CALLER}@x>;party=calling;privacy=off`,
    ]),
    ANSWERED,
  ],
  [
    "a number, and another that is asserted",
    invite(["P-Asserted-Identity: <sip:+12125550199@127.0.0.1>", "Privacy: none"]),
    ANSWERED,
  ],

  ["an anonymous caller", from('"Anonymous" <sip:anonymous@anonymous.invalid>'), WITHHELD],
  ["an anonymous caller in capitals", from('"ANONYMOUS" <sip:Anonymous@Anonymous.Invalid>'), WITHHELD],
  ["a number under the name of nobody", from(`"Anonymous" <sip:${CALLER}@127.0.0.1>`), WITHHELD],
  ["a number whose name the network does not know", from(`"Unknown" <sip:${CALLER}@127.0.0.1>`), ANSWERED],
  ["a number under a longer name of nobody", from(`"Number withheld" <sip:${CALLER}@127.0.0.1>`), WITHHELD],
  ["a user who is unavailable", from('"Unavailable" <sip:Unavailable@127.0.0.1>'), WITHHELD],
  ["zeros for a number", from("<sip:+10000000000@127.0.0.1>"), WITHHELD],
  ["a number at an invalid host", from(`<sip:${CALLER}@anonymous.invalid>`), WITHHELD],
  ["a restricted caller", from("<sip:Restricted@127.0.0.1>"), WITHHELD],
  [
    "an anonymous caller whose number the network asserts",
    invite(['From: "Anonymous" <sip:anonymous@anonymous.invalid>;tag=1', `P-Asserted-Identity: <tel:${CALLER}>`]),
    WITHHELD,
  ],
  ["a number that is to be kept private", invite(["Privacy: id"]), WITHHELD],
  ["several levels of privacy", invite(["Privacy: header;session; ID ;critical"]), WITHHELD],
  ["privacy of the session only", invite(["Privacy: session"]), ANSWERED],
  ["a remote party that is private", invite([`Remote-Party-ID: <sip:${CALLER}@x>;privacy=full;screen=yes`]), WITHHELD],
  ["letters as digits of a phone", from("<sip:+266696687@127.0.0.1>"), WITHHELD],
  ["letters as digits that are a possible number", from("<sip:+86282452253@127.0.0.1>"), WITHHELD],
  ["a name of several words", from('"No Caller ID" <sip:private_number@127.0.0.1>'), WITHHELD],
];
