import { X509Certificate } from "node:crypto";
import { meter } from "../../telemetry/instruments.ts";
import { isWatched } from "../../telemetry/spans.ts";

interface State {
  /** In PEM form; the authority's file may hold several during a change. */
  caCertificate: Buffer;
  certificate: Buffer;
  /** How often the files were read without success. */
  failures: number;
}

const PEM = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;

/** Reports, whenever metrics are read, when the certificates in use expire, and whether newer ones were unusable. */
export function observeCertificates(state: () => State): void {
  if (!isWatched()) return;
  const notAfter = meter().createObservableGauge("parley.tls.certificate.not_after", {
    description: "When the process's own certificate, and its authority's last one, expires: Unix seconds",
    unit: "s",
  });
  notAfter.addCallback((result) => {
    const { caCertificate, certificate } = state();
    result.observe(endOf(certificate), { of: "process" });
    const authorities = caCertificate.toString().match(PEM) ?? [];
    result.observe(Math.max(...authorities.map(endOf)), { of: "authority" });
  });
  const failures = meter().createObservableCounter("parley.tls.reread.failures", {
    description: "Reads of the certificate files that found no usable certificate",
  });
  failures.addCallback((result) => result.observe(state().failures));
}

function endOf(pem: Buffer | string): number {
  return new X509Certificate(pem).validToDate.getTime() / 1_000;
}
