import type { SigningSecret } from "@parley/proto/parley/agent/v1/tool.ts";
import type { Sealer } from "@parley/shared/sealing";
import { resealedSecrets, validOld } from "@parley/shared/signing-secrets";
import type { ToolKey, ToolRow } from "../store/tools.ts";

export function sealSigningSecret(sealer: Sealer, key: ToolKey, secret: string): string {
  return sealer.seal(secret, contextOf(key));
}

/** The secrets that sign a tool's requests at `now`, newest first. @throws when one was sealed with an unknown key */
export function signingSecretsOf(sealer: Sealer, row: ToolRow, now: Date): SigningSecret[] {
  if (row.sealedSecret === null) return [];
  const open = (sealed: string) => sealer.open(sealed, contextOf(row));
  const old = validOld({ sealedSecret: row.sealedSecret, oldSecrets: row.oldSecrets }, now);
  return [
    { secret: open(row.sealedSecret), validUntil: undefined },
    ...old.map(({ sealedSecret, validUntil }) => ({ secret: open(sealedSecret), validUntil: new Date(validUntil) })),
  ];
}

/** The row with its secrets sealed with the sealer's first key. @throws as `signingSecretsOf` does */
export function resealedTool(sealer: Sealer, row: ToolRow): ToolRow {
  const { sealedSecret, oldSecrets } = row;
  if (sealedSecret === null) return row;
  return { ...row, ...resealedSecrets(sealer, { sealedSecret, oldSecrets }, contextOf(row)) };
}

function contextOf({ ownerId, toolId }: ToolKey): string {
  return JSON.stringify(["tool.signing_secret", ownerId, toolId]);
}
