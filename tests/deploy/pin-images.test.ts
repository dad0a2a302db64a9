import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { $ } from "bun";
import { kubectl } from "../kit/deploy/kubernetes.ts";

const DEPLOY = join(import.meta.dir, "../../deploy");
const PINNED = /@sha256:[0-9a-f]{64}$/;
/** Images that are built where they run, from this checkout. */
const OURS = /^parley\//;

// Below the checkout, because kustomize takes no absolute paths.
const copy = await mkdtemp(join(DEPLOY, "node_modules/.pin-images-"));
for (const name of ["Dockerfile", "compose.yaml", "pin-images.sh", "k8s"])
  await cp(join(DEPLOY, name), join(copy, name), { recursive: true });
await mkdir(join(copy, "bin"));
afterAll(() => rm(copy, { recursive: true }));

/** Runs the script with registries in which every image has a digest of its own. */
async function pin(release: string): Promise<void> {
  const docker = join(copy, "bin/docker");
  // Stands in for docker buildx imagetools inspect --format … IMAGE
  await Bun.write(
    docker,
    `#!/bin/sh\nprintf 'sha256:%s\\n' "$(printf '%s %s' "$6" '${release}' | sha256sum | cut -c1-64)"\n`,
  );
  await chmod(docker, 0o755);
  await $`${join(copy, "pin-images.sh")}`.env({ PATH: `${join(copy, "bin")}:${process.env.PATH}` }).quiet();
}

const COMPOSED = [
  "pgvector/pgvector:pg18",
  "valkey/valkey:8-alpine",
  "ollama/ollama:latest",
  "ghcr.io/speaches-ai/speaches:latest-cpu",
];

function digestOf(image: string, release: string): string {
  return `${image}@sha256:${new Bun.CryptoHasher("sha256").update(`${image} ${release}`).digest("hex")}`;
}

async function imagesOf(overlay: string): Promise<string[]> {
  const yaml = await $`${await kubectl()} kustomize ${join(copy, "k8s/overlays", overlay)}`.text();
  return [...yaml.matchAll(/^\s+(?:- )?image(?:Name)?: (\S+)$/gm)].map(([, image = ""]) => image);
}

describe.each(["now", "later"])("pinned %s", (release) => {
  beforeAll(() => pin(release));

  test("every image of the overlays has the digest of its tag", async () => {
    const production = await imagesOf("production");
    expect(production).toContain(digestOf("registry.example/parley/gateway:0.2.0", release));
    expect(production).toContain(digestOf("ghcr.io/cloudnative-pg/postgresql:18-standard-trixie", release));
    for (const image of production) expect(image).toMatch(PINNED);
    const dev = (await imagesOf("dev")).filter((image) => !OURS.test(image));
    expect(dev.toSorted()).toEqual(
      [digestOf("pgvector/pgvector:pg18", release), digestOf("valkey/valkey:8-alpine", release)].toSorted(),
    );
  });

  test("every image that compose pulls, and every base image, has the digest of its tag", async () => {
    const { services } = Bun.YAML.parse(await Bun.file(join(copy, "compose.yaml")).text()) as {
      services: Record<string, { image: string }>;
    };
    const images = Object.values(services).map(({ image }) => image);
    expect(images.filter((image) => !OURS.test(image)).toSorted()).toEqual(
      COMPOSED.map((image) => digestOf(image, release)).toSorted(),
    );
    const dockerfile = await Bun.file(join(copy, "Dockerfile")).text();
    const stages = [...dockerfile.matchAll(/^FROM (\S+) AS (\S+)$/gm)];
    const given = new Map(
      [...dockerfile.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, image]) => [`\${${name}}`, image]),
    );
    const names = stages.map(([, , name]) => name);
    const bases = stages.flatMap(([, from]) => (names.includes(from) ? [] : [given.get(from ?? "") ?? from]));
    expect(new Set(bases).size).toBe(2);
    for (const base of bases) expect(base).toMatch(PINNED);
  });
});
