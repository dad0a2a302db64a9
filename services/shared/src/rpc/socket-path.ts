const SCHEME = "unix:";

/** The path in an address of the form unix:path; null for any other address. */
export function socketPath(address: string): string | null {
  return address.startsWith(SCHEME) ? address.slice(SCHEME.length) : null;
}
