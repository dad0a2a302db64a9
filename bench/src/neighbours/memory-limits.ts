import { join } from "node:path";

const BASE = join(import.meta.dir, "../../../deploy/k8s/base");
const UNITS = { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 } as const;

interface Manifest {
  kind?: string;
  spec?: { template?: { spec?: { containers?: { resources?: { limits?: { memory?: string } } }[] } } };
}

/** The memory limit of each process in Kubernetes, in bytes. @throws when a manifest has no limit */
export async function memoryLimits<N extends string>(names: readonly N[]): Promise<Record<N, number>> {
  const limits = await Promise.all(names.map(async (name) => [name, await memoryLimit(name)] as const));
  return Object.fromEntries(limits) as Record<N, number>;
}

async function memoryLimit(name: string): Promise<number> {
  const manifests = Bun.YAML.parse(await Bun.file(join(BASE, `${name}.yaml`)).text()) as Manifest[];
  const deployment = manifests.find(({ kind }) => kind === "Deployment");
  const limit = deployment?.spec?.template?.spec?.containers?.[0]?.resources?.limits?.memory ?? "";
  const [, digits, unit] = /^(\d+)(Ki|Mi|Gi)$/.exec(limit) ?? [];
  if (!digits) throw new Error(`deploy/k8s/base/${name}.yaml has no memory limit`);
  return Number(digits) * UNITS[unit as keyof typeof UNITS];
}
