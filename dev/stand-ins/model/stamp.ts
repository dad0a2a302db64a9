/** What distinguishes answers with the same text. */
export type Stamp = { newId(prefix: string): string; createdAtSeconds: number };

export function newStamp(): Stamp {
  return {
    newId: (prefix) => prefix + crypto.randomUUID().replaceAll("-", ""),
    createdAtSeconds: Math.floor(Date.now() / 1000),
  };
}
