import { parsePhoneNumberFromString } from "libphonenumber-js/max";

/**
 * Prefixes that are expensive to call, or reach an emergency service: satellite phones and international networks, whose numbers
 * belong to no country (https://www.itu.int/pub/T-SP-E.164D), and emergency numbers that are dialed with a country code.
 */
const PREFIXES = [
  "+870",
  "+881",
  "+882",
  "+883",
  "+888",
  "+1911",
  "+44999",
  "+44112",
  "+49110",
  "+49112",
  "+61000",
  "+91112",
];

/** Why agents may not call a number in E.164 form; null if they may. @param more the operator's own prefixes */
export function denialOf(mobileNumber: string, more: readonly string[]): string | null {
  const prefix = [...PREFIXES, ...more].find((each) => mobileNumber.startsWith(each));
  if (prefix !== undefined) return `agents may not call numbers that begin with ${prefix}`;
  const number = parsePhoneNumberFromString(mobileNumber);
  // Networks ignore surplus digits, so a longer number may reach a premium one.
  if (!number?.isPossible()) return "its country has no numbers of this length";
  return number.getType() === "PREMIUM_RATE" ? "agents may not call premium-rate numbers" : null;
}
