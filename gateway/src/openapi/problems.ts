import type { Operation, Refusal } from "./operation.ts";

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The body is not a JSON object, or a condition is not met.",
  401: "The API key is missing, invalid, inactive or expired.",
  403: "The key lacks the scope, or its owner has no access.",
  404: "Not found.",
  409: "In conflict with what stands: in use, or a reply in progress.",
  413: "The body is over 1 MiB.",
  415: "The body is not application/json.",
  422: "A field breaks a rule.",
  429: "The rate limit is exceeded.",
  500: "Internal error.",
  502: "The model provider failed before the first word.",
  503: "A service is unreachable or does not answer, try again.",
  504: "The model provider did not answer in time.",
};

const ALWAYS = [401, 403, 422, 429, 500, 503];
const BODY = [400, 413, 415];
const BY_REFUSAL: Record<Refusal, readonly number[]> = {
  condition: [400],
  not_found: [404],
  forbidden: [403],
  conflict: [409],
  model: [502, 504],
};

/** Every status an operation can refuse with. */
export function problemsOf({ body, refuses = [] }: Operation, isWrite: boolean): Record<string, unknown> {
  const statuses = new Set([...ALWAYS, ...(body ? BODY : []), ...refuses.flatMap((refusal) => BY_REFUSAL[refusal])]);
  return Object.fromEntries([...statuses].sort((a, b) => a - b).map((status) => [status, problem(status, isWrite)]));
}

function problem(status: number, isWrite: boolean) {
  const retry = status === 429 || status === 503 ? ["Retry-After"] : [];
  const replay = isWrite && [400, 404, 409, 422].includes(status) ? ["Idempotent-Replayed"] : [];
  return {
    description: DESCRIPTIONS[status],
    headers: Object.fromEntries(
      ["X-Request-ID", ...retry, ...replay].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content: { "application/json": { schema: { $ref: "#/components/schemas/Problem" } } },
  };
}
