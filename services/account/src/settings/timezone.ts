import { invalid } from "@parley/shared/errors";
import { isTimeZone } from "@parley/shared/text/time-zone";

/** @throws ServiceError invalid */
export function checkTimezone(timezone: string): void {
  if (!isTimeZone(timezone)) throw invalid("timezone", "timezone must be an IANA time zone, such as Europe/Berlin");
}
