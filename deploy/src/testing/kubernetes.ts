import { join } from "node:path";
import { $ } from "bun";
import { obtainProgram } from "./debian.ts";

// biome-ignore lint/suspicious/noExplicitAny: manifests of every kind, validated by their schemas
export type Manifest = { apiVersion: string; kind: string; metadata: { name: string; labels?: Labels }; spec: any } & {
  stringData?: Labels;
  data?: Labels;
};
export type Labels = Record<string, string>;

const FOLDER = join(import.meta.dir, "../../k8s");

/** What `kubectl apply -k deploy/k8s/overlays/<overlay>` sends. */
export async function renderOverlay(overlay: string): Promise<Manifest[]> {
  return documents(
    await $`${await obtainProgram("kubectl", "kubernetes-client")} kustomize ${join(FOLDER, "overlays", overlay)}`.text(),
  );
}

/** What make-secrets.sh prints. */
export async function renderSecrets(env: Record<string, string>): Promise<Manifest[]> {
  const script = join(FOLDER, "make-secrets.sh");
  return documents(await $`sh ${script}`.env({ PATH: process.env.PATH, ...env }).text());
}

function documents(yaml: string): Manifest[] {
  return yaml.split(/^---$/m).flatMap((text) => (text.trim() === "" ? [] : [Bun.YAML.parse(text) as Manifest]));
}
