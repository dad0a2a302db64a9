import { type PhoneNumber, parsePhoneNumberFromString } from "libphonenumber-js/max";
import { isWithheldNumber } from "../caller-number.ts";
import type { SipUri } from "../transport/sip/messages/address.ts";

/** The number in a URI, with or without a plus, as trunks write it; null if it is not one in international form. */
export function numberOf(uri: SipUri | null): string | null {
  const digits = /^(?:\+|00)?([1-9]\d{6,14})$/.exec(plain(uri?.user ?? ""))?.[1];
  return digits ? `+${digits}` : null;
}

/**
 * The number of the first identity that has one, or null. Without a plus, digits may be a national number of the called number's country,
 * or an international one: docs/calls.md says how they are read.
 */
export function callerNumber(identities: readonly SipUri[], called: string): string | null {
  for (const { user } of identities) {
    const number = completed(plain(user), called);
    if (number?.isPossible() && !isWithheldNumber(number.number.slice(1))) return number.number;
  }
  return null;
}

function completed(text: string, called: string): PhoneNumber | undefined {
  if (!/^\+?\d{4,18}$/.test(text)) return undefined;
  if (/^(?:\+|00)/.test(text)) return parsePhoneNumberFromString(text.replace(/^00/, "+"));
  const near = parsePhoneNumberFromString(called);
  const international = parsePhoneNumberFromString(`+${text}`);
  const national = near && parsePhoneNumberFromString(text, { defaultCallingCode: near.countryCallingCode });
  // North America writes ten digits, which may be valid in Europe; elsewhere, more international numbers would be valid at home.
  const order = near?.countryCallingCode === "1" ? [national, international] : [international, national];
  return order.find((number) => number?.isValid());
}

/** Without the separators that people write, and marks that nobody sees, such as those that set the direction of writing. */
function plain(user: string): string {
  return user.replaceAll(/[\p{Cf}\s().-]/gu, "");
}
