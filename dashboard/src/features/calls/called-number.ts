import { parsePhoneNumberFromString } from "libphonenumber-js/min";

/**
 * The number that someone typed, in E.164 form: one without a country is dialed as from the calling number, as on a telephone.
 * @param from the calling number in E.164 form, if it is known
 * @returns what was typed, without separators, if it is no number; the API says what is wrong
 */
export function calledNumber(typed: string, from: string | undefined): string {
  const plain = typed.replaceAll(/[\s()-]/g, "").replace(/^00/, "+");
  if (plain.startsWith("+") || !from) return plain;
  const country = parsePhoneNumberFromString(from)?.country;
  return (country && parsePhoneNumberFromString(typed, country)?.number) || plain;
}
