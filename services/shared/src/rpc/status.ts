import { type ServiceError as GrpcError, Metadata, type StatusObject, status } from "@grpc/grpc-js";
import type { Any } from "@parley/proto/google/protobuf/any.ts";
import { BadRequest, ErrorInfo, RetryInfo, Status } from "@parley/proto/google/rpc/status.ts";
import { type ErrorKind, ServiceError, type Violation } from "../errors.ts";

const DETAILS = "grpc-status-details-bin";
const DOMAIN = "parley";
const TYPE = "type.googleapis.com/google.rpc.";

const CODES: Record<ErrorKind, status> = {
  invalid: status.INVALID_ARGUMENT,
  condition: status.FAILED_PRECONDITION,
  unauthenticated: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  conflict: status.ABORTED,
  rate_limited: status.RESOURCE_EXHAUSTED,
  upstream_failed: status.UNKNOWN,
  upstream_timeout: status.UNKNOWN,
  unavailable: status.UNAVAILABLE,
  deadline: status.DEADLINE_EXCEEDED,
  cancelled: status.CANCELLED,
  unimplemented: status.UNIMPLEMENTED,
  internal: status.INTERNAL,
};

const KINDS = new Map<number, ErrorKind>([
  [status.UNAVAILABLE, "unavailable"],
  [status.DEADLINE_EXCEEDED, "deadline"],
  [status.CANCELLED, "cancelled"],
  [status.UNIMPLEMENTED, "unimplemented"],
  [status.INVALID_ARGUMENT, "invalid"],
  [status.NOT_FOUND, "not_found"],
]);

/**
 * A status travels in headers, which break the whole connection when they exceed 64 KB; they hold the short text twice.
 */
const LIMITS = { shortText: 200, detail: 2_000, violations: 4_000 };

export type RichStatus = Pick<StatusObject, "code" | "details" | "metadata">;

/**
 * Converts a ServiceError to a gRPC status with standard error details (https://grpc.io/docs/guides/error/). Cuts a
 * detail after 2,000 characters, and leaves out violations beyond 4,000 characters.
 */
export function toStatus(error: ServiceError): RichStatus {
  const status = statusMessage(error);
  const metadata = new Metadata();
  metadata.set(DETAILS, Buffer.from(Status.encode(status).finish()));
  return { code: status.code, details: cut(status.message, LIMITS.shortText), metadata };
}

/** The same as a message, for an error that travels within a stream. */
export function statusMessage(error: ServiceError): Status {
  const code = CODES[error.kind];
  const message = cut(error.detail, LIMITS.detail);
  const details: Any[] = [
    any("ErrorInfo", ErrorInfo.encode({ reason: error.kind.toUpperCase(), domain: DOMAIN, metadata: error.metadata })),
  ];
  if (error.violations.length > 0) {
    const fieldViolations = thatFit(error.violations).map((v) => ({ field: v.path, description: v.message }));
    details.push(any("BadRequest", BadRequest.encode({ fieldViolations })));
  }
  if (error.retryAfterMs !== undefined) {
    const seconds = Math.floor(error.retryAfterMs / 1000);
    const nanos = Math.round((error.retryAfterMs - seconds * 1000) * 1e6);
    details.push(any("RetryInfo", RetryInfo.encode({ retryDelay: { seconds, nanos } })));
  }
  return { code, message, details };
}

/**
 * Returns the ServiceError that a peer sent, or the meaning of a bare gRPC failure, whose text names the service
 * `peer`.
 * @param cancelledHere whether this side cancelled the call: one cancelled by the other side was lost with its
 * connection
 */
export function fromStatus(error: GrpcError, peer: string, cancelledHere = false): ServiceError {
  const [packed] = error.metadata?.get(DETAILS) ?? [];
  const sent = Buffer.isBuffer(packed) ? unpack(packed, error) : null;
  if (sent) return sent;
  const lost = (error.code === status.CANCELLED && !cancelledHere) || brokeUnderneath(error);
  const kind = lost ? "unavailable" : (KINDS.get(error.code) ?? "internal");
  return new ServiceError(kind, BARE_DETAILS[kind]?.(peer) ?? `The ${peer} service failed`, {
    cause: error,
    ...(kind === "unavailable" && { retryAfterMs: 1000 }),
  });
}

/**
 * Whether the connection broke in a way that grpc-js does not recognize (it knows ECONNRESET and ETIMEDOUT). Only the
 * text distinguishes it from a failure of the server.
 */
function brokeUnderneath({ code, details }: GrpcError): boolean {
  return code === status.INTERNAL && details.includes("triggered by internal client error");
}

const BARE_DETAILS: Partial<Record<ErrorKind, (peer: string) => string>> = {
  unavailable: (peer) => `The ${peer} service is unreachable. Try again.`,
  deadline: (peer) => `The ${peer} service did not answer in time`,
  cancelled: () => "The request was cancelled",
  unimplemented: (peer) => `The ${peer} service does not offer this yet`,
};

/** Whether a peer that runs this code sent the error, with its details. */
export function isFromPeer({ cause }: ServiceError): boolean {
  return cause instanceof Error && "metadata" in cause && (cause as GrpcError).metadata.get(DETAILS).length > 0;
}

/**
 * Cuts a text to `length` characters and replaces halves of surrogate pairs, which would make the whole status fail.
 */
function cut(text: string, length: number): string {
  return (text.length <= length ? text : `${text.slice(0, length - 1)}…`).toWellFormed();
}

function thatFit(violations: readonly Violation[]): readonly Violation[] {
  let room = LIMITS.violations;
  return violations.filter(({ path, message }) => {
    room -= path.length + message.length;
    return room >= 0;
  });
}

function any(name: string, message: { finish(): Uint8Array }): Any {
  return { typeUrl: TYPE + name, value: Buffer.from(message.finish()) };
}

/** Null when the details are missing or another program's. */
function unpack(packed: Buffer, cause: GrpcError): ServiceError | null {
  try {
    return readStatus(Status.decode(packed), cause);
  } catch {
    return null;
  }
}

/** The ServiceError in a status message; null when its details are another program's, or none. */
export function readStatus({ message, details }: Status, cause?: unknown): ServiceError | null {
  let kind: ErrorKind | null = null;
  let metadata: Record<string, string> = {};
  let violations: { path: string; message: string }[] = [];
  let retryAfterMs: number | undefined;
  for (const { typeUrl, value } of details) {
    if (typeUrl === `${TYPE}ErrorInfo`) {
      const info = ErrorInfo.decode(value);
      const named = info.reason.toLowerCase();
      if (info.domain === DOMAIN && Object.hasOwn(CODES, named)) kind = named as ErrorKind;
      metadata = info.metadata;
    } else if (typeUrl === `${TYPE}BadRequest`) {
      violations = BadRequest.decode(value).fieldViolations.map((v) => ({ path: v.field, message: v.description }));
    } else if (typeUrl === `${TYPE}RetryInfo`) {
      const delay = RetryInfo.decode(value).retryDelay;
      if (delay) retryAfterMs = delay.seconds * 1000 + delay.nanos / 1e6;
    }
  }
  if (kind === null) return null;
  return new ServiceError(kind, message, {
    cause,
    metadata,
    violations,
    retryAfterMs,
  });
}
