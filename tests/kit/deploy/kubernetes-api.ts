import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { $ } from "bun";
import { kubectl, type Manifest } from "./kubernetes.ts";

/** The part of Kubernetes' API that kubectl needs to create a pod. */
const DISCOVERY: Readonly<Record<string, object>> = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": {
    kind: "APIGroupList",
    groups: [{ name: "apps", versions: [{ groupVersion: "apps/v1", version: "v1" }] }],
  },
  "/api/v1": resources("v1", "pods", "Pod"),
  "/apis/apps/v1": resources("apps/v1", "deployments", "Deployment"),
};

function resources(groupVersion: string, name: string, kind: string): object {
  const verbs = ["create", "get", "list", "watch"];
  return {
    kind: "APIResourceList",
    groupVersion,
    resources: [{ name, kind, namespaced: true, singularName: "", verbs }],
  };
}

/**
 * The pod that parley.sh asks a cluster for, which then refuses it.
 * @param image the account service's image in the cluster
 */
export async function podOfCommandLine(image: string, args: readonly string[]): Promise<Manifest> {
  let made: Manifest | undefined;
  const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "account" } };
  const answers: Readonly<Record<string, object>> = {
    ...DISCOVERY,
    "/apis/apps/v1/namespaces/parley/deployments/account": {
      ...deployment,
      spec: { template: { spec: { containers: [{ image }] } } },
    },
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (request.method === "POST" && pathname === "/api/v1/namespaces/parley/pods")
        made = (await request.json()) as Manifest;
      const answer = answers[pathname];
      return answer ? Response.json(answer) : Response.json({ kind: "Status", code: 403 }, { status: 403 });
    },
  });
  const home = await mkdtemp(join(tmpdir(), "parley-kubectl-"));
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server: `http://127.0.0.1:${server.port}` } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    users: [{ name: "test", user: {} }],
    "current-context": "test",
  };
  await writeFile(join(home, "config"), JSON.stringify(config));
  const PATH = `${dirname(await kubectl())}:${process.env.PATH}`;
  const script = join(import.meta.dir, "../../../deploy/k8s/parley.sh");
  const env = { PATH, HOME: home, KUBECONFIG: join(home, "config") };
  const { stderr } = await $`sh ${script} ${args}`.env(env).quiet().nothrow();
  await server.stop(true);
  await rm(home, { recursive: true });
  if (!made) throw new Error(`no pod was asked for: ${stderr}`);
  return made;
}
