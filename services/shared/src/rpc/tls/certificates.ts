import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { experimental } from "@grpc/grpc-js";
import { ConfigError } from "../../config.ts";
import type { Logger } from "../../log.ts";
import { observeCertificates } from "./observe-certificates.ts";

/** A process's certificate and key, and the authority that it trusts: PEM files. */
export interface TlsFiles {
  ca: string;
  cert: string;
  key: string;
}

interface Certificates {
  caCertificate: Buffer;
  certificate: Buffer;
  privateKey: Buffer;
}

export const REREAD_MS = 30_000;

/**
 * Provides the files to grpc-js and reads them again every `rereadMs` while someone uses them, so that new connections
 * use new certificates. Unlike grpc-js's own watcher, it keeps the last good ones while the files are being replaced or
 * are wrong, and logs the problem once.
 * @throws ConfigError when the files are unusable at the start
 */
export function watchCertificates(
  files: TlsFiles,
  log: Logger,
  rereadMs = REREAD_MS,
): experimental.CertificateProvider {
  let current = read(files);
  let failures = 0;
  let complaint = "";
  let timer: Timer | undefined;
  const ca = new Set<experimental.CaCertificateUpdateListener>();
  const identity = new Set<experimental.IdentityCertificateUpdateListener>();

  function reread(): void {
    try {
      const fresh = read(files);
      complaint = "";
      if (isSame(fresh, current)) return;
      current = fresh;
    } catch (err) {
      failures++;
      const { message } = err as Error;
      if (message !== complaint)
        log.error({ err }, "the certificates on disk cannot be used, so the previous ones stay in use");
      complaint = message;
      return;
    }
    log.info({ not_after: new X509Certificate(current.certificate).validToDate }, "certificates were read again");
    for (const listener of identity) listener(current);
    for (const listener of ca) listener(current);
  }

  function add<L extends (update: Certificates) => void>(listeners: Set<L>, listener: L): void {
    // While nobody uses the files, nobody reads them.
    if (timer === undefined) reread();
    listeners.add(listener);
    timer ??= setInterval(reread, rereadMs).unref();
    // The code that adds a listener has not finished with it yet.
    process.nextTick(() => listeners.has(listener) && listener(current));
  }

  function remove<L>(listeners: Set<L>, listener: L): void {
    listeners.delete(listener);
    if (ca.size + identity.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  observeCertificates(() => ({ ...current, failures }));
  return {
    addCaCertificateListener: (listener) => add(ca, listener),
    removeCaCertificateListener: (listener) => remove(ca, listener),
    addIdentityCertificateListener: (listener) => add(identity, listener),
    removeIdentityCertificateListener: (listener) => remove(identity, listener),
  };
}

function read(files: TlsFiles): Certificates {
  try {
    const [caCertificate, certificate, privateKey] = [files.ca, files.cert, files.key].map((file) =>
      readFileSync(file),
    );
    if (!caCertificate || !certificate || !privateKey) throw new Error("a file is missing");
    new X509Certificate(caCertificate);
    if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey)))
      throw new Error(`${files.key} is not the key of ${files.cert}`);
    return { caCertificate, certificate, privateKey };
  } catch (error) {
    throw new ConfigError(
      `The certificates of PARLEY_TLS_CA, _CERT and _KEY cannot be used: ${(error as Error).message}`,
    );
  }
}

function isSame(a: Certificates, b: Certificates): boolean {
  return (
    a.caCertificate.equals(b.caCertificate) && a.certificate.equals(b.certificate) && a.privateKey.equals(b.privateKey)
  );
}
