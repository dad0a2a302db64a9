import { CARRIERS } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import { parsePhoneNumberFromString } from "libphonenumber-js";

/** @throws ServiceError invalid unless the number is in E.164 form and possible in its country */
export function checkMobileNumber(mobileNumber: string): void {
  if (!isMobileNumber(mobileNumber))
    throw invalid("mobile_number", "mobile_number must be a phone number in E.164 form, such as +14155550123");
}

/** Whether a number is in E.164 form and possible in its country. */
export function isMobileNumber(mobileNumber: string): boolean {
  const parsed = parsePhoneNumberFromString(mobileNumber);
  return parsed?.isPossible() === true && parsed.number === mobileNumber;
}

/** @throws ServiceError invalid */
export function checkCarrier(telephonyProvider: string): void {
  if (!CARRIERS.some((carrier) => carrier === telephonyProvider)) {
    throw invalid("telephony_provider", `telephony_provider must be ${CARRIERS.join(" or ")}`);
  }
}
