import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { obtain } from "@parley/testkit/programs/obtain";
import { $ } from "bun";
import { unpackPrograms } from "./unpacked-programs.ts";

// biome-ignore lint/suspicious/noExplicitAny: manifests of every kind, validated by their schemas
export type Manifest = { apiVersion: string; kind: string; metadata: { name: string; labels?: Labels }; spec: any } & {
  stringData?: Labels;
  data?: Labels;
};
export type Labels = Record<string, string>;

const FOLDER = join(import.meta.dir, "../../../deploy/k8s");

/** The manifests that `kubectl apply -k deploy/k8s/overlays/<overlay>` sends. */
export function renderOverlay(overlay: string): Promise<Manifest[]> {
  return render(join(FOLDER, "overlays", overlay));
}

/** The manifests of an overlay that adds this component to the base. */
export async function renderComponent(component: string): Promise<Manifest[]> {
  // Below the checkout, because kustomize takes no absolute paths.
  const scratch = await mkdtemp(join(FOLDER, "../node_modules/.kustomize-"));
  try {
    await writeFile(
      join(scratch, "kustomization.yaml"),
      JSON.stringify({ resources: ["../../k8s/base"], components: [`../../k8s/components/${component}`] }),
    );
    return await render(scratch);
  } finally {
    await rm(scratch, { recursive: true });
  }
}

async function render(folder: string): Promise<Manifest[]> {
  return documents(await $`${await kubectl()} kustomize ${folder}`.text());
}

/** The first minor version of Kubernetes 1 whose kubectl renders like today's. */
const MINOR = 27;

/** The kubectl on PATH, or, if that is too old, the one of a later Debian. */
export async function kubectl(): Promise<string> {
  const own = Bun.which("kubectl");
  if (own) {
    const { clientVersion } = await $`${own} version --client --output=json`.quiet().nothrow().json();
    if (Number.parseInt(clientVersion?.minor ?? "0", 10) >= MINOR) return own;
  }
  const programs = ["kubectl"];
  return join(await unpackPrograms({ name: "kubectl", release: "trixie", folder: "usr/bin", programs }), "kubectl");
}

/** The output of make-secrets.sh. */
export async function renderSecrets(env: Record<string, string>): Promise<Manifest[]> {
  const script = join(FOLDER, "make-secrets.sh");
  await obtain("openssl");
  return documents(
    await $`sh ${script}`
      .env({ PATH: process.env.PATH, ...env })
      .quiet()
      .text(),
  );
}

function documents(yaml: string): Manifest[] {
  return yaml.split(/^---$/m).flatMap((text) => (text.trim() === "" ? [] : [Bun.YAML.parse(text) as Manifest]));
}
