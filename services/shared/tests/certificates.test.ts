import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { recordLog } from "@parley/testkit/recorded-log";
import { createAuthority, createCertificate, storeCertificate } from "@parley/testkit/tls/certificates";
import { watchCertificates } from "../src/rpc/tls/certificates.ts";
import { startTelemetry } from "../src/telemetry/telemetry.ts";

const REREAD_MS = 5;
/** A certificate's end has whole seconds. */
const END = new Date("2031-05-06T07:08:09Z");
const LATER = new Date("2032-05-06T07:08:09Z");

const folder = await mkdtemp(join(tmpdir(), "parley-certificates-"));
const authority = await createAuthority("Parley test authority");
const telemetry = startTelemetry("test", {
  PARLEY_ADMIN_LISTEN: "127.0.0.1:0",
  OTEL_EXPORTER_OTLP_ENDPOINT: "",
  OTEL_TRACES_SAMPLER_ARG: 1,
  OTEL_BSP_SCHEDULE_DELAY: 1,
});
afterAll(async () => {
  await telemetry.stop();
  await rm(folder, { recursive: true, force: true });
});

async function metric(name: string): Promise<number> {
  const line = (await telemetry.metrics()).split("\n").find((text) => text.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

const failures = () => metric("parley_tls_reread_failures_total");
const notAfter = () => metric('parley_tls_certificate_not_after{of="process"}');
const issue = (notAfterDate: Date) => createCertificate(authority, "account", { notAfterDate });

test("unusable new certificates are counted at each reading and logged once per fault; the next good ones are used", async () => {
  const { log, lines } = recordLog();
  const first = await issue(END);
  const files = await storeCertificate(folder, "account", authority, first);
  const certificates = watchCertificates(files, log, REREAD_MS);
  const taken: string[] = [];
  const take = (update: { certificate: Buffer } | null) => void taken.push(String(update?.certificate));
  certificates.addIdentityCertificateListener(take);
  await eventually(() => expect(taken).toEqual([first.cert]));
  expect(await failures()).toBe(0);
  expect(await notAfter()).toBe(END.getTime() / 1_000);
  expect(await metric('parley_tls_certificate_not_after{of="authority"}')).toBeGreaterThan(Date.now() / 1_000);

  const next = await issue(LATER);
  await Bun.write(files.key, next.key);
  await eventually(async () => expect(await failures()).toBeGreaterThan(3));
  expect(lines.map(({ level, err }) => [level, err?.message])).toEqual([
    ["error", expect.stringContaining(`${files.key} is not the key of ${files.cert}`)],
  ]);

  await rm(files.cert);
  const before = await failures();
  await eventually(async () => expect(await failures()).toBeGreaterThan(before + 3));
  expect(lines.map(({ err }) => err?.message).slice(1)).toEqual([expect.stringContaining("ENOENT")]);
  expect(await notAfter()).toBe(END.getTime() / 1_000);

  await Bun.write(files.cert, next.cert);
  await eventually(() => expect(taken).toEqual([first.cert, next.cert]));
  expect(lines.at(-1)).toMatchObject({ level: "info", msg: "certificates were read again" });
  expect(lines).toHaveLength(3);
  expect(await notAfter()).toBe(LATER.getTime() / 1_000);
  certificates.removeIdentityCertificateListener(take);
});
