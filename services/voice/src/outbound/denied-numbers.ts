import { type NumberType, parsePhoneNumberFromString } from "libphonenumber-js/max";

/**
 * Prefixes that are expensive to call, or reach an emergency service: satellite phones, international networks and international
 * premium-rate services, whose numbers belong to no country (https://www.itu.int/pub/T-SP-E.164D), and emergency numbers that are
 * dialed with a country code.
 */
const PREFIXES = [
  "+808",
  "+870",
  "+878",
  "+881",
  "+882",
  "+883",
  "+888",
  "+979",
  "+1911",
  "+44999",
  "+44112",
  "+49110",
  "+49112",
  "+61000",
  "+91112",
];

/** A plus and the digits of the longest country code. */
const CALLING_CODE_MAX = 4;

/** Why agents may not call a number in E.164 form; null if they may. @param more the operator's own prefixes */
export function denialOf(mobileNumber: string, more: readonly string[]): string | null {
  const prefix = [...PREFIXES, ...more].find((each) => mobileNumber.startsWith(each));
  if (prefix !== undefined) return `agents may not call numbers that begin with ${prefix}`;
  const number = parsePhoneNumberFromString(mobileNumber);
  if (!number?.isPossible()) return "its country has no numbers of this length";
  return reachesPremium(mobileNumber) ? "agents may not call premium-rate numbers" : null;
}

/**
 * Whether it is a premium-rate number, or one with surplus digits, which networks ignore. Refuses a few toll-free numbers, of Andorra and
 * New Zealand, which begin with premium-rate ones.
 */
function reachesPremium(mobileNumber: string): boolean {
  const type = parsePhoneNumberFromString(mobileNumber)?.getType();
  if (type === "PREMIUM_RATE") return true;
  // No number of a person or firm begins with a premium-rate one.
  if (type !== undefined && ORDINARY.has(type)) return false;
  return mobileNumber.length > CALLING_CODE_MAX && reachesPremium(mobileNumber.slice(0, -1));
}

const ORDINARY = new Set<NumberType>(["MOBILE", "FIXED_LINE", "FIXED_LINE_OR_MOBILE"]);
