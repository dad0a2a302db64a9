import { DETAILS, problemExample } from "./examples/problems.ts";
import { headerReferences } from "./headers.ts";
import { isPublic, type Operation, type Refusal } from "./operation.ts";

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The body is not a JSON object, or a condition is not met.",
  401: "The API key is missing, invalid, inactive or expired, or the session has ended.",
  403: "The key lacks the scope, its owner has no access, or a session's request comes from another site's page.",
  404: "Not found.",
  408: "The body arrives too slowly.",
  409: "Conflict with the current state, such as a prompt or a number that is in use, a reply in progress, or a limit on what an account stores.",
  413: "The body is too large.",
  415: "The body is not of a type that the operation takes.",
  416: "The range is outside the file.",
  422: "A field breaks a rule.",
  429: "The rate limit is exceeded.",
  500: "Internal error.",
  502: "The model provider failed before the first word.",
  503: "A service is unreachable or does not answer. Try again.",
  504: "The model provider did not answer in time.",
};

/** Meanings that differ in the management API. */
const MANAGE_DESCRIPTIONS: Readonly<Record<number, string>> = {
  401: "Not signed in, or the session has ended. When signing in: email or password is wrong.",
  403: "The request comes from another site's page.",
  409: "Conflict with something that exists.",
};
const CARRIER_REFUSED = "The carrier refused the request.";
const START_FAILED = "The agent's start webhook failed, and its conversations do not begin without it (`on_failure`).";

function refusedBy(refuses: readonly Refusal[]): string | undefined {
  if (refuses.includes("carrier")) return CARRIER_REFUSED;
  return refuses.includes("start") ? START_FAILED : undefined;
}

export const RATE_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

const ALWAYS = [401, 422, 429, 500, 503];
const BODY = [400, 413, 415];
const BY_REFUSAL: Record<Refusal, readonly number[]> = {
  condition: [400],
  not_found: [404],
  forbidden: [403],
  conflict: [409],
  model: [502, 504],
  start: [502],
  carrier: [502],
};

/** Every status with which an operation can refuse a request. */
export function problemsOf(
  operation: Operation,
  { path, isKeyed, isWrite }: { path: string; isKeyed: boolean; isWrite: boolean },
): Record<string, unknown> {
  const { body, form, refuses = [], scope, file } = operation;
  const statuses = new Set([
    ...ALWAYS,
    ...(isPublic(scope) || isWrite ? [403] : []),
    ...(body ? BODY : []),
    ...(form || (body && scope === "anyone") ? [408] : []),
    ...(file?.ranges ? [416] : []),
    ...refuses.flatMap((refusal) => BY_REFUSAL[refusal]),
  ]);
  const descriptions = isPublic(scope) ? DESCRIPTIONS : { ...DESCRIPTIONS, ...MANAGE_DESCRIPTIONS };
  const described = [...statuses].map((status) => {
    const names = [
      "X-Request-ID",
      ...headersOf(operation, status),
      ...(isKeyed && REPLAYED.has(status) ? ["Idempotent-Replayed"] : []),
    ];
    const description = (status === 502 && refusedBy(refuses)) || descriptions[status];
    return [status, problem(description, names, problemExample(status, path, operation))];
  });
  return Object.fromEntries(described);
}

/** Meanings that differ where callers have neither a key nor a session. */
const OPEN_DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The body cannot be read, or a condition is not met.",
  401: "The token is missing, wrong or has expired.",
  403: "The signature, the verify token, or the origin is wrong.",
  404: "Not found: the call is unknown, or the carrier is no longer connected.",
  415: "The body has the wrong type, or a Content-Encoding.",
  429: "Too many requests from this address, in this chat, or to this account.",
};

/**
 * Every status with which an operation without key and session can refuse a request.
 * @param refuses the detail of a refusal, by status, beyond those that every such operation has
 */
export function openProblems(refuses: Readonly<Record<number, string>>): Record<string, unknown> {
  const details = {
    429: "Too many requests from this address. Wait a minute.",
    500: DETAILS[500],
    503: DETAILS[503],
    ...refuses,
  };
  const described = Object.entries(details).map(([name, detail = ""]) => {
    const status = Number(name);
    const headers = ["X-Request-ID", ...(MAY_BE_REPEATED.has(status) ? ["Retry-After"] : [])];
    const [field = ""] = detail.split(" ");
    const example = status === 422 ? { detail, errors: [{ path: field, message: detail }] } : { detail };
    return [status, problem(OPEN_DESCRIPTIONS[status] ?? DESCRIPTIONS[status], headers, example)];
  });
  return Object.fromEntries(described);
}

const MAY_BE_REPEATED = new Set([429, 502, 503]);

/** Statuses of refusals that an idempotency key keeps. */
const REPLAYED = new Set([400, 404, 409, 422]);
/** Statuses of a failed turn whose session may exist already. */
const OF_TURN = new Set([400, 403, 404, 409, 422, 500, 502, 503, 504]);

function headersOf({ scope, refuses }: Operation, status: number): string[] {
  const isTurn = refuses?.includes("model") ?? false;
  return [
    ...(scope === "anyone" || status === 401 ? [] : RATE_HEADERS),
    ...(status === 429 || status === 503 || (status === 502 && isTurn) ? ["Retry-After"] : []),
    ...(isTurn && OF_TURN.has(status) ? ["X-Session-ID"] : []),
  ];
}

function problem(description: string | undefined, headers: readonly string[], example: object) {
  return {
    description,
    headers: headerReferences(headers),
    content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" }, example } },
  };
}
