import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PEERS } from "@parley/testkit/tls/peers";
import { $ } from "bun";
import { connectionsOfProcess } from "../kit/deploy/connections.ts";
import { type Labels, type Manifest, renderComponent, renderOverlay, renderSecrets } from "../kit/deploy/kubernetes.ts";
import { podOfCommandLine } from "../kit/deploy/kubernetes-api.ts";
import { reads } from "../kit/deploy/variables.ts";

const ROOT = join(import.meta.dir, "../..");
const OVERLAYS = ["dev", "production"] as const;
const COMPONENTS = ["gateway-api", "sip", "sip-tls"] as const;
/** Kinds whose schema comes with their operator and is in no package. */
const UNKNOWN = ["postgresql.cnpg.io/v1 Cluster"];

const DATABASE = "postgres://a:b@db:5432/parley";
const REDIS = "rediss://redis:6379";

const rendered = new Map<string, Manifest[]>();
// Below node_modules, where the type checker finds the packages and no other check looks.
const scratch = join(ROOT, "tests/node_modules/.kubernetes-test");
beforeAll(async () => {
  for (const overlay of OVERLAYS) rendered.set(overlay, await renderOverlay(overlay));
  rendered.set(
    "secrets",
    await renderSecrets({ ADMIN_DATABASE_URL: DATABASE, REDIS_URL: REDIS, REDIS_CA_FILE: import.meta.path }),
  );
  for (const component of COMPONENTS) rendered.set(component, await renderComponent(component));
  await mkdir(scratch, { recursive: true });
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const all = (from: string) => rendered.get(from) ?? [];
const known = (from: string) => all(from).filter((manifest) => !UNKNOWN.includes(typeOf(manifest)));

function typeOf({ apiVersion, kind }: Manifest): string {
  return `${apiVersion} ${kind}`;
}

/** Manifests of kinds that are not part of Kubernetes itself. */
const PACKAGES: Readonly<Record<string, string>> = {
  "cert-manager.io": "@kubernetes-models/cert-manager",
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
};

function moduleOf({ apiVersion, kind }: Manifest): string {
  return `${PACKAGES[apiVersion.split("/")[0] ?? ""] ?? "kubernetes-models"}/${apiVersion}/${kind}`;
}

/** https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted, and no token of the cluster. */
function expectRestricted(name: string, spec: Manifest["spec"]): void {
  expect({ name, ...spec }).toMatchObject({
    name,
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  });
  for (const container of spec.containers)
    expect({ name, ...container.securityContext }).toMatchObject({
      name,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    });
}

describe.each([...OVERLAYS, "secrets", ...COMPONENTS])("%s", (from) => {
  test("conforms to the Kubernetes schemas", async () => {
    expect(known(from).length).toBeGreaterThan(5);
    for (const manifest of known(from)) {
      const module = await import(moduleOf(manifest));
      const validate = () => new module[manifest.kind](manifest).validate();
      expect(validate, `${manifest.kind} ${manifest.metadata.name}`).not.toThrow();
    }
  });

  test("has no field that Kubernetes does not know", async () => {
    // The schemas allow unknown fields; the types generated from them do not.
    const lines = known(from).map((manifest, at) => {
      const type = `import("${moduleOf(manifest)}").I${manifest.kind}`;
      return `export const manifest${at}: ${type} = ${JSON.stringify(manifest)};`;
    });
    const file = join(scratch, `${from}.ts`);
    await writeFile(file, lines.join("\n"));
    const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "Preserve", "--moduleResolution", "bundler"];
    const { exitCode, stdout } = await $`node_modules/.bin/tsc ${flags} --ignoreConfig ${file}`
      .cwd(ROOT)
      .quiet()
      .nothrow();
    expect({ exitCode, printed: stdout.toString() }).toEqual({ exitCode: 0, printed: "" });
  });
});

describe.each([...OVERLAYS])("%s", (overlay) => {
  const ofKind = (kind: string) => all(overlay).filter((manifest) => manifest.kind === kind);
  const names = (kind: string) => ofKind(kind).map(({ metadata }) => metadata.name);
  const templates = () =>
    ["Deployment", "Job", "StatefulSet"]
      .flatMap(ofKind)
      .map(({ metadata, spec }) => ({ ...metadata, ...spec.template }));

  test("every process has replicas that scale, are spread and are not all evicted at once", () => {
    const processes = [...Object.keys(PEERS), "gateway"].toSorted();
    for (const kind of ["Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget"])
      expect({ kind, names: names(kind).toSorted() }).toEqual({ kind, names: processes });
    expect(names("Service")).toEqual(expect.arrayContaining(processes));
    for (const { spec } of ofKind("Deployment")) {
      expect(spec.template.spec.topologySpreadConstraints).toHaveLength(2);
      // The autoscaler sets the number.
      expect(spec.replicas).toBeUndefined();
    }
  });

  test("a replica stops only after its replacement is known to callers and its running calls had time to end; calls add replicas before ports run out", () => {
    for (const { metadata, spec } of ofKind("Deployment")) {
      // On the only node of dev, the replacement of a voice process needs the ports that its predecessor has.
      const isInTheWay = overlay === "dev" && metadata.name === "voice";
      expect({ name: metadata.name, ...spec.strategy }).toMatchObject({
        rollingUpdate: isInTheWay ? { maxUnavailable: 1, maxSurge: 0 } : { maxUnavailable: 0, maxSurge: 1 },
      });
      // CoreDNS caches a name for at most this long.
      expect(spec.minReadySeconds).toBeGreaterThan(30);
      const [{ lifecycle, env }] = spec.template.spec.containers;
      const msOf = (variable: string) =>
        Number(env.find(({ name }: { name: string }) => name === variable)?.value ?? 0);
      const drainMs = msOf("PARLEY_DRAIN_MS") + msOf("PARLEY_CALLS_DRAIN_MS");
      const pauseSeconds = lifecycle.preStop.sleep.seconds;
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(pauseSeconds + drainMs / 1_000 + 15);
    }
  });

  test("calls in progress have an hour to end when a voice replica stops, and replicas are taken away slowly", () => {
    const voice = ofKind("Deployment").find(({ metadata }) => metadata.name === "voice");
    // The only node of dev needs the ports for the replacement.
    if (overlay !== "dev") {
      expect(voice?.spec.template.spec.containers[0].env).toContainEqual({
        name: "PARLEY_CALLS_DRAIN_MS",
        value: "3600000",
      });
    }
    const scaler = ofKind("HorizontalPodAutoscaler").find(({ metadata }) => metadata.name === "voice");
    const [{ pods }] = scaler?.spec.metrics ?? [{}];
    expect(pods?.metric.name).toBe("parley_calls_under_way");
    const ports = ofKind("Deployment")
      .find(({ metadata }) => metadata.name === "voice")
      ?.spec.template.spec.containers[0].ports.filter(({ name }: { name: string }) => name.startsWith("rtp-"));
    expect(Number(pods?.target.averageValue)).toBeLessThan(0.8 * ports.length);
    expect(scaler?.spec.behavior.scaleDown.policies).toEqual([{ type: "Pods", value: 1, periodSeconds: 1_800 }]);
  });

  test("every service's name resolves to all its replicas, so that callers balance over them", () => {
    for (const name of Object.keys(PEERS))
      expect(ofKind("Service").find(({ metadata }) => metadata.name === name)?.spec).toMatchObject({
        clusterIP: "None",
      });
    for (const { spec } of ofKind("Deployment"))
      for (const { name, value } of spec.template.spec.containers[0].env)
        if (/^PARLEY_(?!RTP_)\w+_ADDRESS$/.test(name)) expect(value).toMatch(/^dns:\/\/\/[a-z-]+:50051$/);
  });

  test("the network policies allow exactly the calls that the services admit, at both ends", () => {
    const arrows = Object.entries(PEERS).flatMap(([to, peers]) => peers.map((from) => `${from} -> ${to}`));
    const nameOf = ({ matchLabels }: { matchLabels: Labels }) => matchLabels["app.kubernetes.io/name"];
    const allowed = (direction: "ingress" | "egress", end: "from" | "to") =>
      ofKind("NetworkPolicy").flatMap(({ spec }) =>
        (spec[direction] ?? []).flatMap((rule: { ports?: { port: number }[] } & Record<string, never[]>) =>
          rule.ports?.[0]?.port === 50051 && rule.ports.length === 1
            ? (rule[end] ?? []).map(({ podSelector }) => {
                const [own, other] = [nameOf(spec.podSelector), nameOf(podSelector)];
                return direction === "ingress" ? `${other} -> ${own}` : `${own} -> ${other}`;
              })
            : [],
        ),
      );
    expect(allowed("ingress", "from").toSorted()).toEqual(arrows.toSorted());
    expect(allowed("egress", "to").toSorted()).toEqual(arrows.toSorted());
    const denial = ofKind("NetworkPolicy").find(({ metadata }) => metadata.name === "deny-all");
    expect(denial?.spec).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] });
  });

  test("every process gets the addresses of exactly the services that admit it", () => {
    for (const { metadata, spec } of ofKind("Deployment")) {
      const admitting = Object.entries(PEERS).filter(([, peers]) => peers.includes(metadata.name));
      const given = (spec.template.spec.containers[0].env as { value?: string }[]).flatMap(
        ({ value }) => value?.match(/^dns:\/\/\/([a-z-]+):/)?.[1] ?? [],
      );
      expect({ name: metadata.name, given: given.toSorted() }).toEqual({
        name: metadata.name,
        given: admitting.map(([to]) => to).toSorted(),
      });
    }
  });

  test("every pod meets the restricted Pod Security Standard and has no cluster token", () => {
    expect(templates().length).toBeGreaterThan(6);
    for (const { name, spec } of templates()) expectRestricted(name, spec);
  });

  test("only the voice service has host ports, and its namespace admits them", () => {
    const withHostPorts = templates().filter(({ spec }) =>
      spec.containers.some(({ ports = [] }: { ports?: { hostPort?: number }[] }) =>
        ports.some(({ hostPort }) => hostPort),
      ),
    );
    expect(withHostPorts.map(({ name }) => name)).toEqual(["voice"]);
    // https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline forbids host ports.
    expect(ofKind("Namespace")[0]?.metadata.labels).toMatchObject({
      "pod-security.kubernetes.io/enforce": "privileged",
      "pod-security.kubernetes.io/audit": "restricted",
      "pod-security.kubernetes.io/warn": "restricted",
    });
  });

  test("make-secrets.sh or a certificate creates every Secret that a pod mounts, with the files that it reads", () => {
    const made = new Map(all("secrets").map(({ metadata, data }) => [metadata.name, Object.keys(data ?? {})]));
    for (const { spec } of ofKind("Certificate")) made.set(spec.secretName, ["ca.crt", "tls.crt", "tls.key"]);
    for (const { name, spec } of templates()) {
      const volumes = (spec.volumes ?? []) as { name: string; secret?: { secretName: string } }[];
      for (const container of spec.containers) {
        const mounts = (container.volumeMounts ?? []) as { name: string; mountPath: string }[];
        const readable = mounts.flatMap((mount) => {
          const secret = volumes.find((volume) => volume.name === mount.name)?.secret?.secretName ?? "";
          return (made.get(secret) ?? []).map((file) => `${mount.mountPath}/${file}`);
        });
        const read = ((container.env ?? []) as { value?: string }[]).flatMap(({ value }) =>
          value?.startsWith("/run/secrets/") ? [value] : [],
        );
        expect({ name, unreadable: read.filter((file) => !readable.includes(file)) }).toEqual({ name, unreadable: [] });
      }
    }
  });
});

describe("production speaks TLS to Postgres and Redis", () => {
  const secrets = async (env: Record<string, string>) =>
    new Map((await renderSecrets(env)).map(({ metadata, data = {} }) => [metadata.name, data]));
  const urlsIn = (data: Record<string, string>) =>
    Object.entries(data).flatMap(([name, value]) => (name.endsWith("database_url") ? [atob(value)] : []));
  const CA = "/run/secrets/postgres/ca.crt";

  test("every Postgres address verifies its name and the authority that its clients mount", async () => {
    const urls = [...(await secrets({ ADMIN_DATABASE_URL: DATABASE, REDIS_URL: REDIS })).values()].flatMap(urlsIn);
    expect(urls).toHaveLength(17);
    for (const url of urls) expect(url).toEndWith(`@db:5432/parley?sslmode=verify-full&sslrootcert=${CA}`);
    const clients = all("production").filter(
      ({ spec }) => spec?.template?.metadata?.labels?.["uses-postgres"] === "yes",
    );
    expect(clients).toHaveLength(9);
    const [cluster] = all("production").filter(({ kind }) => kind === "Cluster");
    for (const { spec } of clients) {
      const [{ volumeMounts }] = spec.template.spec.containers;
      const { name } = volumeMounts.find(({ mountPath }: { mountPath: string }) => mountPath === dirname(CA));
      const volume = spec.template.spec.volumes.find((each: { name: string }) => each.name === name);
      // Only the certificate is mounted: the Secret has the authority's key too.
      const items = [{ key: "ca.crt", path: basename(CA) }];
      expect(volume.secret).toEqual({ secretName: `${cluster?.metadata.name}-ca`, items });
    }
    expect(cluster?.spec.postgresql.pg_hba).toEqual(["hostnossl all all all reject"]);
  });

  test("the gateway gets Redis's authority", () => {
    const gateway = all("production").find(
      ({ kind, metadata }) => kind === "Deployment" && metadata.name === "gateway",
    );
    const env = gateway?.spec.template.spec.containers[0].env as { name: string; value: string }[];
    const path = env.find(({ name }) => name === "PARLEY_REDIS_CA")?.value ?? "";
    const secret = all("secrets").find(({ metadata }) => metadata.name === "gateway-secrets");
    expect(secret?.data?.[basename(path)]).toBeString();
  });

  test("a plain-text address is refused unless the operator allows it", async () => {
    const clear = { ADMIN_DATABASE_URL: `${DATABASE}?sslmode=disable`, REDIS_URL: "redis://redis:6379" };
    await expect(renderSecrets({ ...clear, REDIS_URL: REDIS })).rejects.toThrow();
    await expect(renderSecrets({ ...clear, ADMIN_DATABASE_URL: DATABASE })).rejects.toThrow();
    const made = await secrets({ ...clear, INSECURE_STORAGE: "1" });
    expect(urlsIn(made.get("prompt-secrets") ?? {})[0]).toEndWith("@db:5432/parley?sslmode=disable");
    expect(atob(made.get("gateway-secrets")?.redis_url ?? "")).toBe("redis://redis:6379");
    const own = "sslmode=verify-full&sslrootcert=system";
    const given = await secrets({ ADMIN_DATABASE_URL: `${DATABASE}?${own}`, REDIS_URL: REDIS });
    expect(urlsIn(given.get("prompt-secrets") ?? {})[0]).toEndWith(`@db:5432/parley?${own}`);
  });
});

test("nothing is made for ingress-nginx, which is retired", () => {
  for (const from of [...OVERLAYS, ...COMPONENTS]) expect(JSON.stringify(all(from))).not.toContain("nginx");
});

test("a production gateway does not start until the operator has named the trusted proxies", async () => {
  const gateway = all("production").find(({ kind, metadata }) => kind === "Deployment" && metadata.name === "gateway");
  const env = gateway?.spec.template.spec.containers[0].env as { name: string; value: string }[];
  const value = env.find(({ name }) => name === "PARLEY_TRUSTED_PROXIES")?.value ?? "";
  const addresses = env.flatMap(({ name, value: at }) => (name.endsWith("_ADDRESS") ? [[name, at]] : []));
  const child = Bun.spawn([process.execPath, "--no-env-file", join(ROOT, "gateway/src/main.ts")], {
    env: { ...Object.fromEntries(addresses), PARLEY_TRUSTED_PROXIES: value },
    stdout: "pipe",
  });
  expect(await child.exited).toBe(78);
  expect(await child.stdout.text()).toContain(`PARLEY_TRUSTED_PROXIES: \\"${value}\\" is not a CIDR`);
});

test("carriers reach the WebSockets of the voice service at the address that it gives them", () => {
  const find = (kind: string, name: string) =>
    all("production").find((each) => each.kind === kind && each.metadata.name === name);
  const [{ host, http }] = find("Ingress", "gateway")?.spec.rules ?? [];
  const [container] = find("Deployment", "voice")?.spec.template.spec.containers ?? [];
  const setting = (name: string) => container.env.find((each: { name: string }) => each.name === name)?.value;
  expect(setting("PARLEY_VOICE_URL")).toBe(`wss://${host}`);
  const { service } = http.paths.find(({ path }: { path: string }) => path === "/media").backend;
  const [port] = find("Service", service.name)?.spec.ports ?? [];
  expect(port.name).toBe(service.port.name);
  const { containerPort } = container.ports.find(({ name }: { name: string }) => name === port.targetPort);
  expect(setting("PARLEY_VOICE_LISTEN")).toBe(`0.0.0.0:${containerPort}`);
  expect(find("NetworkPolicy", "streams")?.spec.ingress[0].ports).toEqual([{ protocol: "TCP", port: containerPort }]);
});

test.each(OVERLAYS)(
  "every process of %s that gives out addresses of the gateway knows the one that clients use",
  async (overlay) => {
    const [ingress] = all(overlay).filter(({ kind }) => kind === "Ingress");
    const url = ingress ? `https://${ingress.spec.rules[0].host}` : "http://localhost:8080";
    const deployments = all(overlay).filter(({ kind }) => kind === "Deployment");
    const given = deployments.flatMap(({ metadata, spec }) => {
      const env = spec.template.spec.containers[0].env as { name: string; value?: string }[];
      return env.flatMap(({ name, value }) => (name === "PARLEY_PUBLIC_URL" ? [[metadata.name, value]] : []));
    });
    const readers = await Promise.all(
      deployments.map(async ({ metadata }) =>
        (await reads(metadata.name, "PARLEY_PUBLIC_URL")) ? [metadata.name] : [],
      ),
    );
    expect(readers.flat().length).toBeGreaterThan(1);
    expect(given).toEqual(readers.flat().map((name) => [name, url]));
  },
);

test("with the component for SIP, trunks reach the port that the voice service listens on, over UDP and TCP", () => {
  const find = (kind: string, name: string) =>
    all("sip").find((each) => each.kind === kind && each.metadata.name === name);
  const [container] = find("Deployment", "voice")?.spec.template.spec.containers ?? [];
  const open = ["UDP", "TCP"].map((protocol) => ({ protocol, port: 5060 }));
  for (const { protocol, port } of open)
    expect(container.ports).toContainEqual(expect.objectContaining({ protocol, containerPort: port, hostPort: port }));
  expect(container.env).toContainEqual({ name: "PARLEY_SIP_LISTEN", value: "0.0.0.0:5060" });
  expect(find("NetworkPolicy", "sip")?.spec.ingress).toEqual([{ ports: open }]);
});

test("with the component for SIP over TLS, trunks reach its port too, and the certificate is the Secret's", () => {
  const find = (kind: string, name: string) =>
    all("sip-tls").find((each) => each.kind === kind && each.metadata.name === name);
  const { containers, volumes } = find("Deployment", "voice")?.spec.template.spec ?? {};
  const [{ env, ports, volumeMounts }] = containers;
  const setting = (name: string) => env.find((each: { name: string }) => each.name === name)?.value;
  const port = Number(setting("PARLEY_SIP_TLS_PORT"));
  expect(setting("PARLEY_SIP_LISTEN")).toBe("0.0.0.0:5060");
  expect(ports).toContainEqual(expect.objectContaining({ protocol: "TCP", containerPort: port, hostPort: port }));
  expect(find("NetworkPolicy", "sip-tls")?.spec.ingress).toEqual([{ ports: [{ protocol: "TCP", port }] }]);
  expect(find("NetworkPolicy", "sip")).toBeDefined();
  for (const [variable, file] of [
    ["PARLEY_SIP_TLS_CERT", "tls.crt"],
    ["PARLEY_SIP_TLS_KEY", "tls.key"],
  ] as const) {
    const mount = volumeMounts.find((each: { mountPath: string }) => setting(variable) === `${each.mountPath}/${file}`);
    const volume = volumes.find((each: { name: string }) => each.name === mount?.name);
    expect(volume?.secret).toEqual({ secretName: "sip-tls" });
  }
});

test.each(OVERLAYS)("%s replaces the host that stands for the operator's in the base", (overlay) => {
  expect(all(overlay).filter((manifest) => JSON.stringify(manifest).includes("api.parley.example"))).toEqual([]);
});

test("the port-forwards that the documentation names for dev lead to the addresses that its processes give out", async () => {
  const documentation = await Bun.file(join(ROOT, "docs/deployment.md")).text();
  const forwards = documentation.matchAll(/kubectl -n parley-dev port-forward service\/([a-z-]+) (\d+):(\d+)/g);
  const voice = all("dev").find(({ kind, metadata }) => kind === "Deployment" && metadata.name === "voice");
  const [{ env }] = voice?.spec.template.spec.containers ?? [];
  const given = (env as { name: string; value?: string }[])
    .filter(({ name }) => name === "PARLEY_PUBLIC_URL" || name === "PARLEY_VOICE_URL")
    .map(({ value }) => Number(new URL(value ?? "").port));
  const led = [...forwards].map(([, name, own, port]) => {
    const service = all("dev").find(({ kind, metadata }) => kind === "Service" && metadata.name === name);
    expect(service?.spec.ports).toContainEqual(expect.objectContaining({ port: Number(port) }));
    return Number(own);
  });
  expect(led.toSorted()).toEqual(given.toSorted());
});

test("the migration's label selects only the migration, so that it can be applied first", () => {
  const selected = all("production").filter(
    ({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === "migrate",
  );
  expect(selected.map(({ kind }) => kind).toSorted()).toEqual(["Job", "ServiceAccount"]);
});

test("the Gateway API's route replaces the Ingress, and the policy admits its pods", () => {
  const [route, ...others] = all("gateway-api").filter(({ kind }) => ["HTTPRoute", "Ingress"].includes(kind));
  expect(others).toEqual([]);
  expect(route).toMatchObject({
    kind: "HTTPRoute",
    spec: {
      rules: [
        { matches: [{ path: { value: "/media" } }], backendRefs: [{ name: "voice-media", port: 80 }] },
        { backendRefs: [{ name: "gateway", port: 80 }] },
      ],
    },
  });
  const { namespace } = route?.spec.parentRefs[0] ?? {};
  for (const name of ["public", "streams"]) {
    const policy = all("gateway-api").find(({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name === name);
    expect(policy?.spec.ingress).toMatchObject([
      { from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } }] },
    ]);
  }
});

test("parley.sh runs the command line in a pod that the policies admit, with its own certificate and all arguments", async () => {
  const args = ["owner", "create", "--name", "Acme & Co"];
  const pod = await podOfCommandLine("registry.example/parley/account:1.2.3", args);
  const { Pod } = await import("kubernetes-models/v1/Pod");
  expect(() => new Pod(pod as never).validate()).not.toThrow();
  expect(pod.metadata.labels).toEqual({ "app.kubernetes.io/name": "parley" });
  const admitting = Object.entries(PEERS).flatMap(([to, peers]) =>
    peers.includes("parley") ? [`dns:///${to}:50051`] : [],
  );
  const [{ env, ...container }] = pod.spec.containers;
  const addresses = (env as { value: string }[]).flatMap(({ value }) => (value.startsWith("dns:") ? [value] : []));
  expect(addresses.toSorted()).toEqual(admitting.toSorted());
  expect(container).toMatchObject({ image: "registry.example/parley/parley:1.2.3", args });
  expectRestricted(pod.metadata.name, pod.spec);
  const certificate = all("production").find(
    ({ kind, metadata }) => kind === "Certificate" && metadata.name === "parley",
  );
  expect(pod.spec.volumes).toEqual([{ name: "tls", secret: { secretName: certificate?.spec.secretName } }]);
});

test("parley.sh uses its own image of the release when the others are pinned", async () => {
  const pinned = `registry.example:5000/parley/account:1.2.3@sha256:${"a".repeat(64)}`;
  const pod = await podOfCommandLine(pinned, ["owner", "list"]);
  expect(pod.spec.containers[0].image).toBe("registry.example:5000/parley/parley:1.2.3");
});

test.each(OVERLAYS)(
  "Postgres of %s has connections for every replica that may run, and for their replacements",
  (overlay) => {
    const ofKind = (kind: string) => all(overlay).filter((manifest) => manifest.kind === kind);
    const users = ofKind("Deployment").filter(({ spec }) => spec.template.metadata.labels["uses-postgres"]);
    const replicas = users.map(({ metadata }) => {
      const scaler = ofKind("HorizontalPodAutoscaler").find((candidate) => candidate.metadata.name === metadata.name);
      return scaler?.spec.maxReplicas + 1;
    });
    expect(replicas).toHaveLength(8);
    const [cluster] = ofKind("Cluster");
    const server = ofKind("StatefulSet").find(({ metadata }) => metadata.name === "postgres");
    const inArguments = server?.spec.template.spec.containers[0].args.join(" ").match(/max_connections=(\d+)/)?.[1];
    const allowed = Number(cluster?.spec.postgresql.parameters.max_connections ?? inArguments);
    expect(allowed).toBeGreaterThan(replicas.reduce((sum, count) => sum + count, 0) * connectionsOfProcess());
  },
);
