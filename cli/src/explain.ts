import { ServiceError, type Violation } from "@parley/shared/errors";

/** The argument for each request field. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  name: "--name",
  email: "--email",
  password: "The password",
  tier: "--tier",
  rate_limit_per_minute: "--rate-limit",
  expires_at: "--expires-at",
  scopes: "--scopes",
  retention_days: "--retention-days",
  timezone: "--timezone",
  mobile_number: "<mobile_number>",
  telephony_provider: "--carrier",
  url: "--url",
  request_type: "--request-type",
  retry_schedule: "--retry-schedule",
  metric: "--metric",
  threshold: "--threshold",
  window_minutes: "--window-minutes",
  minimum_count: "--minimum-count",
  agent_id: "--agent",
  since: "--since",
  page: "--page",
  page_size: "--page-size",
};

/** Describes a service's error in terms of the command line. */
export function explain({ kind, detail, violations }: ServiceError): string {
  if (kind === "internal") return `${detail}: see the log of the service`;
  const [first, ...others] = violations;
  if (!first) return detail;
  const isList = others.length > 0 && violations.every(({ message }) => detail.includes(message));
  return (isList ? violations : [{ ...first, message: detail }, ...others]).map(inOurTerms).join("\n");
}

function inOurTerms({ path, message }: Violation): string {
  const argument = ARGUMENTS[path];
  return argument ? message.replace(path, argument) : message;
}

/** Rethrows a refusal with the names of its fields, where these are no options. */
export function inItsWords(error: unknown): never {
  if (!(error instanceof ServiceError)) throw error;
  const { kind, detail, violations } = error;
  // The detail of another refusal has already said all.
  const others = kind === "invalid" ? violations.slice(1).map(({ message }) => message) : [];
  throw new ServiceError(kind, [detail, ...others].join("\n"), { cause: error });
}
