export type EgressErrorKind =
  | "forbidden" // the address breaks a rule of the guard
  | "unresolvable" // the host name has no address
  | "timeout" // no connection within its time
  | "too_large" // the body is longer than the caller accepts
  | "redirect" // the answer points elsewhere, and redirects are not followed
  | "network"; // no connection, no trusted certificate, or an answer cut short

/** A failed guarded request. The message is shown to users: it has the host they gave, never a resolved address. */
export class EgressError extends Error {
  override readonly name = "EgressError";
  readonly kind: EgressErrorKind;

  constructor(kind: EgressErrorKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "closed the connection before the response was complete",
  EPIPE: "closed the connection before the response was complete",
  EHOSTUNREACH: "cannot be reached",
  ENETUNREACH: "cannot be reached",
  EADDRNOTAVAIL: "cannot be reached",
  ETIMEDOUT: "cannot be reached",
  ERR_TLS_CERT_ALTNAME_INVALID: "has a certificate for another name",
  CERT_HAS_EXPIRED: "has an expired certificate",
  CERT_NOT_YET_VALID: "has a certificate that is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "has a self-signed certificate",
  SELF_SIGNED_CERT_IN_CHAIN: "has a certificate from an authority that is not trusted here",
  UNABLE_TO_GET_ISSUER_CERT: "has a certificate from an authority that is not trusted here",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "has a certificate from an authority that is not trusted here",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "has a certificate from an authority that is not trusted here",
};

/** The error to show a user when the connection to `host` fails with `cause`. Returns an EgressError unchanged. */
export function networkError(host: string, cause: unknown): EgressError {
  if (cause instanceof EgressError) return cause;
  const code = codeOf(cause);
  const reason = REASONS[code] ?? (code.startsWith("HPE_") ? "did not answer in HTTP/1.1" : "could not be contacted");
  return new EgressError("network", `${host} ${reason}`, cause);
}

export function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? "");
}
