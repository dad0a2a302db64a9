import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { ConfigError } from "../config.ts";

/** TLS options of a client that trusts one authority; read them again for each connection. */
export interface Authority {
  /** In PEM form. */
  readonly ca: string;
  rejectUnauthorized: true;
}

/**
 * Trusts the certificate authority in a PEM file. Reads the file again for each connection, because authorities are
 * replaced while a process runs; while the file is unusable, the last good version applies.
 * @param variable that named the file, for the error
 * @throws ConfigError when the file is unusable at the start
 */
export function authorityIn(file: string, variable: string): Authority {
  let good: string;
  try {
    good = read(file);
  } catch (error) {
    throw new ConfigError(`${variable}: ${file} does not contain certificates (${(error as Error).message})`);
  }
  return {
    get ca() {
      try {
        good = read(file);
      } catch {
        // The file may be in the middle of a replacement.
      }
      return good;
    },
    rejectUnauthorized: true,
  };
}

function read(file: string): string {
  const pem = readFileSync(file, "utf8");
  new X509Certificate(pem);
  return pem;
}
