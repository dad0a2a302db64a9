import { type ServiceError as GrpcError, Metadata, type StatusObject, status } from "@grpc/grpc-js";
import type { Any } from "@parley/proto/google/protobuf/any.ts";
import { BadRequest, ErrorInfo, RetryInfo, Status } from "@parley/proto/google/rpc/status.ts";
import { type ErrorKind, ServiceError } from "../errors.ts";

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
  [status.PERMISSION_DENIED, "forbidden"],
  [status.NOT_FOUND, "not_found"],
]);

/** A ServiceError as gRPC's status with the standard's error details (https://grpc.io/docs/guides/error/). */
export function toStatus(error: ServiceError): Pick<StatusObject, "code" | "details" | "metadata"> {
  const code = CODES[error.kind];
  const details: Any[] = [
    any("ErrorInfo", ErrorInfo.encode({ reason: error.kind.toUpperCase(), domain: DOMAIN, metadata: error.metadata })),
  ];
  if (error.violations.length > 0) {
    const fieldViolations = error.violations.map((v) => ({ field: v.path, description: v.message }));
    details.push(any("BadRequest", BadRequest.encode({ fieldViolations })));
  }
  if (error.retryAfterMs !== undefined) {
    const seconds = Math.floor(error.retryAfterMs / 1000);
    const nanos = Math.round((error.retryAfterMs - seconds * 1000) * 1e6);
    details.push(any("RetryInfo", RetryInfo.encode({ retryDelay: { seconds, nanos } })));
  }
  const metadata = new Metadata();
  metadata.set(DETAILS, Buffer.from(Status.encode({ code, message: error.detail, details }).finish()));
  return { code, details: error.detail, metadata };
}

/** The ServiceError a peer sent, or what a bare gRPC failure means. `peer` names the service in the latter's text. */
export function fromStatus(error: GrpcError, peer: string): ServiceError {
  const [packed] = error.metadata?.get(DETAILS) ?? [];
  if (Buffer.isBuffer(packed)) {
    const sent = unpack(packed, error);
    if (sent) return sent;
  }
  const kind = KINDS.get(error.code) ?? "internal";
  return new ServiceError(kind, BARE_DETAILS[kind]?.(peer) ?? `The ${peer} service failed`, {
    cause: error,
    ...(kind === "unavailable" && { retryAfterMs: 1000 }),
  });
}

const BARE_DETAILS: Partial<Record<ErrorKind, (peer: string) => string>> = {
  unavailable: (peer) => `The ${peer} service is unreachable, try again`,
  deadline: (peer) => `The ${peer} service did not answer in time`,
  cancelled: () => "The request was cancelled",
  unimplemented: (peer) => `The ${peer} service does not offer this yet`,
};

function any(name: string, message: { finish(): Uint8Array }): Any {
  return { typeUrl: TYPE + name, value: Buffer.from(message.finish()) };
}

function unpack(packed: Buffer, cause: GrpcError): ServiceError | null {
  const { message, details } = Status.decode(packed);
  let kind: ErrorKind | null = null;
  let metadata: Record<string, string> = {};
  let violations: { path: string; message: string }[] = [];
  let retryAfterMs: number | undefined;
  for (const { typeUrl, value } of details) {
    if (typeUrl === `${TYPE}ErrorInfo`) {
      const info = ErrorInfo.decode(value);
      const named = info.reason.toLowerCase();
      if (info.domain === DOMAIN && named in CODES) kind = named as ErrorKind;
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
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
