import { CALLED, CALLER, invite } from "./messages.ts";
import type { Row } from "./sender.ts";

const ANSWERED = { status: 200, caller: CALLER, called: CALLED };
const from = (value: string) => invite([`From: ${value}`]);

/** Addresses with and without names (RFC 3261, section 20.10; RFC 4475). */
export const NAME_ADDRESSES: readonly Row[] = [
  ["a quoted name, as most telephones send it", from(`"Ada" <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a quoted name right before the bracket", from(`"Ada"<sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a quoted name with a tab after it", from(`"Ada"\t<sip:${CALLER}@127.0.0.1>\t;\ttag\t=\t1`), ANSWERED],
  ["a name of several words", from(`"Ada King Lovelace" <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a name with escaped quotes", from(`"Ada \\"Byron\\" King" <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a name that ends with a backslash", from(`"Ada \\\\" <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a name with a comma", from(`"Lovelace, Ada" <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a name with another address in it", from(`"<sip:+1900@evil>;tag=x" <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["an empty name", from(`"" <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a name of another script", from(`"आदा لوڤلايس 艾达" <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a name without quotes", from(`Ada Lovelace <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a name without quotes that has a comma", from(`Lovelace, Ada <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["a number as the name", from(`"${CALLER}" <sip:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["no brackets", from(`sip:${CALLER}@127.0.0.1;tag=1`), ANSWERED],
  ["a name without brackets around the address", from(`"Ada, L" sip:${CALLER}@127.0.0.1;tag=1`), ANSWERED],
  ["spaces inside the brackets", from(`"Ada" < sip:${CALLER}@127.0.0.1 >;tag=1`), ANSWERED],
  [
    "parameters of the URI and of the header",
    from(`"Ada" <sip:${CALLER}@127.0.0.1;user=phone>;x="a;b,c";tag=1`),
    ANSWERED,
  ],
  ["a folded line", invite(['From: "Ada', ` Lovelace"`, ` <sip:${CALLER}@127.0.0.1>`, "\t;tag=1"]), ANSWERED],
  ["a compact name", invite([`f: "Ada" <sip:${CALLER}@127.0.0.1>;tag=1`]), ANSWERED],
  ["spaces before the colon", invite([`FROM  : "Ada" <sip:${CALLER}@127.0.0.1>;tag=1`]), ANSWERED],
  ["an address with a secure scheme", from(`"Ada" <sips:${CALLER}@127.0.0.1>;tag=1`), ANSWERED],
  ["an address of an unknown scheme", from('"Ada" <urn:x:ada>;tag=1'), { status: 200, called: CALLED }],
  ["a quote that does not end", from(`"Ada <sip:${CALLER}@127.0.0.1>;tag=1`), { status: 400 }],
  ["a bracket that does not close", from(`"Ada" <sip:${CALLER}@127.0.0.1;tag=1`), { status: 400 }],
  ["a tag only in the name", from(`"Ada;tag=1" <sip:${CALLER}@127.0.0.1>`), { status: 400 }],
  ["a quoted name in To", invite([`To: "The Office" <sip:${CALLED}@127.0.0.1>`]), ANSWERED],
  ["a tag in the name of To", invite([`To: "Office ;tag=1" <sip:${CALLED}@127.0.0.1>`]), ANSWERED],
  ["a quoted name in Contact", invite(['Contact: "Ada" <sip:me@127.0.0.1:PORT>']), ANSWERED],
  ["a name with a comma in Contact", invite(['m: "Lovelace, Ada" <sip:me@127.0.0.1:PORT>;q=0.5']), ANSWERED],
  [
    "a name with a comma but no quotes in Contact",
    invite(["Contact: Lovelace, Ada <sip:me@127.0.0.1:PORT>"]),
    ANSWERED,
  ],
  ["two addresses in Contact", invite(["Contact: <sip:me@127.0.0.1:PORT>, <sip:me@192.0.2.1>"]), ANSWERED],
  ["no Contact", invite(["Contact: "]), { status: 400 }],
  ["names in Record-Route", invite(['Record-Route: "A, B" <sip:127.0.0.1;lr>, <sip:127.0.0.2;lr>']), ANSWERED],
];
