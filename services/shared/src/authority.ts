import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { ConfigError } from "./config.ts";

/** TLS options of a client that believes one authority; to be read anew for every connection. */
export interface Authority {
  /** In PEM form. */
  readonly ca: string;
  rejectUnauthorized: true;
}

/**
 * The authority whose certificates are in a PEM file. The file is read again for every connection, because authorities are replaced
 * while a process runs; while it cannot be used, the last good reading stands.
 * @param variable that named the file, for the error
 * @throws ConfigError when the file cannot be used at the start
 */
export function authorityIn(file: string, variable: string): Authority {
  let good: string;
  try {
    good = read(file);
  } catch (error) {
    throw new ConfigError(`${variable}: ${file} is no file of certificates (${(error as Error).message})`);
  }
  return {
    get ca() {
      try {
        good = read(file);
      } catch {
        // It is being replaced.
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
