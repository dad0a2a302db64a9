import { CARRIERS } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import { parsePhoneNumberFromString } from "libphonenumber-js";

/** @throws ServiceError invalid unless the number is in E.164 form and possible in its country */
export function checkMobileNumber(mobileNumber: string): void {
  const parsed = parsePhoneNumberFromString(mobileNumber);
  if (!parsed?.isPossible() || parsed.number !== mobileNumber) {
    throw invalid("mobile_number", "mobile_number must be a phone number in E.164 form, such as +14155550123");
  }
}

/** @throws ServiceError invalid */
export function checkCarrier(telephonyProvider: string): void {
  if (!CARRIERS.some((carrier) => carrier === telephonyProvider)) {
    throw invalid("telephony_provider", `telephony_provider must be ${CARRIERS.join(" or ")}`);
  }
}
