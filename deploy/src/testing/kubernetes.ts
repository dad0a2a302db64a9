import { join } from "node:path";
import { $ } from "bun";

// biome-ignore lint/suspicious/noExplicitAny: manifests of every kind, validated by their schemas
export type Manifest = { apiVersion: string; kind: string; metadata: { name: string; labels?: Labels }; spec: any } & {
  stringData?: Labels;
  data?: Labels;
};
export type Labels = Record<string, string>;

const FOLDER = join(import.meta.dir, "../../k8s");

/** What `kubectl apply -k deploy/k8s/overlays/<overlay>` sends. */
export async function renderOverlay(overlay: string): Promise<Manifest[]> {
  return documents(await $`${await obtainKubectl()} kustomize ${join(FOLDER, "overlays", overlay)}`.text());
}

/** What make-secrets.sh prints. */
export async function renderSecrets(env: Record<string, string>): Promise<Manifest[]> {
  const script = join(FOLDER, "make-secrets.sh");
  return documents(await $`sh ${script}`.env({ PATH: process.env.PATH, ...env }).text());
}

function documents(yaml: string): Manifest[] {
  return yaml.split(/^---$/m).flatMap((text) => (text.trim() === "" ? [] : [Bun.YAML.parse(text) as Manifest]));
}

/**
 * The kubectl on PATH, else Debian's, installed when we may.
 * @throws one sentence that says what to do.
 */
async function obtainKubectl(): Promise<string> {
  if (!Bun.which("kubectl") && process.getuid?.() === 0 && Bun.which("apt-get")) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    await $`apt-get update && apt-get install --yes --no-install-recommends kubernetes-client`
      .env(env)
      .quiet()
      .nothrow();
  }
  const found = Bun.which("kubectl");
  if (!found) throw new Error("The tests need kubectl 1.27 or later: put it on PATH, or run as root on Debian 13");
  return found;
}
